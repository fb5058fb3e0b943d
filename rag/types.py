"""The values that pass between the stages. All are frozen; none knows a library or does I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag.messages import Message

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "quote", "caption", "note"]
FileState = Literal["waiting", "indexed", "no text", "failed", "password needed"]
Mode = Literal["hybrid", "dense", "keyword", "keyword-then-dense"]
BBox = tuple[float, float, float, float]

MODES: tuple[Mode, ...] = ("hybrid", "dense", "keyword", "keyword-then-dense")


@dataclass(frozen=True, slots=True)
class Region:
    """Where a stretch of a block's text stands: it begins at character `start` of the text, and runs
    to the next region's start. `page` is 1-based and physical; `bbox` is (x0, y0, x1, y1) in points
    of the page as it is shown (rotation applied), origin top left; `None` where a format has none."""

    start: int
    page: int | None = None
    bbox: BBox | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells, merged ones filled. The first `header_rows` rows name the columns."""

    rows: tuple[tuple[str, ...], ...]
    header_rows: int = 1
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One structural unit of a document, in reading order.

    `heading` is the path of headings over the block, outermost first; a block of kind "heading"
    carries its own title as the last item. `regions` tells the page of every character; the first starts at 0.
    A table's `text` is one line a row, cells joined by " | ", after the caption if there is one;
    `table` holds the same cells. `level` is the depth of a heading block (1 = outermost).
    """

    text: str
    kind: BlockKind = "paragraph"
    heading: tuple[str, ...] = ()
    regions: tuple[Region, ...] = (Region(0),)
    table: Table | None = None
    level: int = 0

    @property
    def page(self) -> int | None:
        """The page on which the block begins."""
        return self.regions[0].page

    @property
    def bbox(self) -> BBox | None:
        """The box of the block's first stretch of text."""
        return self.regions[0].bbox


@dataclass(frozen=True, slots=True)
class Meta:
    """What a document says of itself. `date` is ISO 8601 (day, month or year); `date_source` tells where
    it was read: "properties", "front matter", "text", "name" or "file time". `page_labels` are the printed
    page numbers, one a physical page, or empty."""

    title: str = ""
    author: str = ""
    date: str | None = None
    date_source: str = ""
    language: str = ""
    tags: tuple[str, ...] = ()
    page_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """How well a file was read. Page lists are 1-based and sorted; a format without pages leaves them empty.

    `text_pages` were read from a text layer, `ocr_pages` by OCR; `empty_pages` hold nothing readable;
    `suspect_pages` hold a text that looks damaged, or wait for OCR that is not installed.
    `dropped` counts characters left out on purpose, by reason ("header", "hidden", ...).
    """

    pages: int = 0
    text_pages: tuple[int, ...] = ()
    ocr_pages: tuple[int, ...] = ()
    empty_pages: tuple[int, ...] = ()
    suspect_pages: tuple[int, ...] = ()
    tables: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    encoding: str = ""
    warnings: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A file as parsing leaves it: its blocks in reading order, what it says of itself, how it was read."""

    blocks: tuple[Block, ...]
    meta: Meta = Meta()
    report: Report = Report()


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page (1-based), in points of the page as shown, origin top left."""

    page: int
    bbox: BBox


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: what is shown, cited, and searched by words.

    `id` hashes path, heading path, text and the count of earlier equals, so an unchanged passage keeps it.
    `text` is what is shown. `words` holds its tables' rows written out as words, for searching only.
    `tokens` counts `heading path + text` as the embedder's tokenizer does, prefix and special tokens included.
    `date` is the document's, `date_source` tells where it was read, as `Meta` does.
    """

    id: str
    path: str
    ordinal: int
    text: str
    heading: tuple[str, ...] = ()
    page_first: int | None = None
    page_last: int | None = None
    boxes: tuple[PageBox, ...] = ()
    date: str | None = None
    tokens: int = 0
    words: str = ""
    date_source: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found. `score` orders the hits; `dense` is the cosine of its best window with the centred question
    (rag/retrieval/centring.py), `keyword` its BM25 score, `rerank` the reranker's score in 0..1; `None` where that
    path did not find or judge it. Ranks are 1-based positions in each path's own list. `same_in` names other files
    with the same text. `closeness` tells how close its words come to the question's, 0 for foreign text, about 1 for
    an answer (rag/retrieval/late_interaction.py)."""

    chunk: Chunk
    score: float
    dense: float | None = None
    keyword: float | None = None
    rerank: float | None = None
    dense_rank: int | None = None
    keyword_rank: int | None = None
    same_in: tuple[str, ...] = ()
    closeness: float | None = None


@dataclass(frozen=True, slots=True)
class Filters:
    """Restricts a search before candidates are cut. Empty fields do not restrict.
    `folders` and `files` are relative paths with "/": a file in any of these places passes. Languages are ISO 639-1
    codes, dates ISO 8601 (a day, a month or a year), inclusive."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    date_from: str | None = None
    date_to: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What retrieval gives: at most k hits, best first, and whether they should be trusted as an answer.
    `refused` is `confidence < threshold`; the hits of a refusal are merely the nearest passages. `reading` is the
    question as it was read where it was typed in another layout or alphabet, else empty."""

    query: str
    hits: tuple[Hit, ...]
    refused: bool
    confidence: float
    threshold: float
    mode: Mode = "hybrid"
    sub_questions: tuple[str, ...] = ()
    warnings: tuple[Message, ...] = ()
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """The answer's mark [n] points to the n-th hit, which stands in `file` on `page`."""

    n: int
    file: str
    page: int | None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Tells whether a file has changed: size in bytes, modification time in ns, SHA-256 of the bytes."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A row of the catalogue: one file of the notes folder and how it stands in the index."""

    path: str
    state: FileState
    size: int = 0
    chunks: int = 0
    error: Message | None = None
    meta: Meta = Meta()
    report: Report = Report()


@dataclass(frozen=True, slots=True)
class SyncFailure:
    """A file that could not be indexed, and why."""

    file: str
    error: Message


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What one run over the notes folder did. `embedded` counts passages sent to the model in this run."""

    files: int
    indexed: int
    unchanged: int
    removed: int
    failed: tuple[SyncFailure, ...]
    chunks: int
    seconds: float
    embedded: int


@dataclass(frozen=True, slots=True)
class FileProgress:
    """How far the work on one file has come: `stage` is "queued", "parsing", "embedding" or "storing",
    `done` of `total` in that stage's own units (pages, passages); total 0 = unknown."""

    path: str
    stage: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """A snapshot for the pages. `model` is "loading", "ready" or "failed", `loading` tells what it is doing meanwhile;
    `rebuilding` is the share done (0..1) of a new index that is being built beside this one, or `None`."""

    files: int
    chunks: int
    queued: int
    active: tuple[FileProgress, ...]
    model: Literal["idle", "loading", "ready", "failed"]
    embedder: str
    error: Message | None = None
    rebuilding: float | None = None
    watching: bool = False
    loading: Message | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `doctor`. `fix` says what to do where `ok` is false. What is not `required` only makes it better."""

    name: str
    ok: bool
    detail: Message
    fix: Message | None = None
    required: bool = True
