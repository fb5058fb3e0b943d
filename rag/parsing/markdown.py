"""Markdown, with what students' tools add to it: front matter, formulas, footnotes, Obsidian's links and callouts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rag.parsing.draft import BOLD_LEVEL, Draft, clean, is_fake_heading, make_table
from rag.parsing.frontmatter import split_front_matter
from rag.parsing.inline import autolink_text, inline_text, note_number, reflow
from rag.parsing.links import cut_data_uris
from rag.parsing.obsidian import add_obsidian_rules, callout_text, drop_block_id, find_tags
from rag.parsing.text import read_text
from rag.types import BlockKind, Table

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

MAX_NESTING = 60
LONG_LINE = 20_000  # looking for pairs of marks takes quadratic time; no line that somebody typed is as long
_ATTRIBUTES = re.compile(r"\s*\{[#.][^{}]*\}$")
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]*>((?:(?!</?h[1-6]).)*)</h\1>", re.DOTALL | re.IGNORECASE)
ONLY_IMAGES = re.compile(r"(?:\s*\[image\]\s*)+")


def parse_markdown(path: Path) -> Draft:
    """Read a Markdown file."""
    text, draft = read_text(path)
    markdown_blocks(text, draft)
    return draft


def markdown_blocks(text: str, draft: Draft) -> None:
    """Add the blocks of a Markdown text to a draft, below the headings that are open there."""
    from markdown_it.tree import SyntaxTreeNode

    draft.meta, text = split_front_matter(text, draft.meta)
    text, cut = cut_data_uris(clean(text))
    draft.drop_count("data", cut)
    grammar = _grammar()
    if max(map(len, text.split("\n"))) > LONG_LINE:
        grammar.disable(["link", "image", "emphasis", "strikethrough", "autolink", "wikilink", "embed"])
    tokens = grammar.parse(text)
    for token in tokens:
        autolink_text(token.children or [])
    _Reader(draft).read(SyntaxTreeNode(tokens))
    draft.meta = find_tags(text, draft.meta)


def _grammar() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    grammar = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    grammar.use(dollarmath_plugin, allow_space=True, allow_digits=False, double_inline=True)
    grammar.use(footnote_plugin, inline=False)
    add_obsidian_rules(grammar)
    return grammar


class _Reader:
    """Walks the syntax tree. Structure inside lists and quotes is kept as text, tables become blocks of their own."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft

    def read(self, root: SyntaxTreeNode) -> None:
        for node in root.children:
            match node.type:
                case "heading":
                    self.draft.heading(_ATTRIBUTES.sub("", _words(node)), int(node.tag[1]))
                case "html_block" if found := _HTML_HEADING.fullmatch(node.content.strip()):
                    self.draft.heading(" ".join(map(str, self._html(found.group(2)))), int(found.group(1)))
                case "bullet_list" | "ordered_list":
                    self._list(node)
                case "footnote_block":
                    self._footnotes(node)
                case "paragraph" if _is_all_bold(node) and is_fake_heading(_words(node)):
                    self.draft.heading(_words(node), BOLD_LEVEL)
                case _:
                    self._add(self._render(node), _KINDS.get(node.type, "paragraph"))

    def _add(self, pieces: list[str | Table], kind: BlockKind, joiner: str = "\n\n") -> None:
        """Add runs of text as one block each, with the tables between them as blocks of their own."""
        run: list[str] = []
        for piece in [*pieces, None]:
            if isinstance(piece, str):
                run.append(piece)
                continue
            self.draft.add(joiner.join(run), kind)
            run = []
            if piece:
                self.draft.add_table(piece)

    def _list(self, node: SyntaxTreeNode) -> None:
        """A tight list is one block; in a loose one, whose items are paragraphs, each item is a block."""
        items = [self._item(item) for item in node.children]
        if _is_tight(node):
            self._add([piece for item in items for piece in item], "list", "\n")
        else:
            for item in items:
                self._add(item, "list")

    def _footnotes(self, node: SyntaxTreeNode) -> None:
        for note in node.children:
            text = "\n".join(p for p in self._children(note) if isinstance(p, str))
            self.draft.add(f"[{note_number(note.meta)}] {text}", "note")

    def _render(self, node: SyntaxTreeNode) -> list[str | Table]:  # noqa: PLR0911
        """A node as text, with the tables inside it left whole."""
        match node.type:
            case "paragraph":
                text = drop_block_id(reflow(_words(node)))
                return [] if ONLY_IMAGES.fullmatch(text) else [text] if text else []
            case "fence" | "code_block":
                return [node.content.rstrip("\n")]
            case "math_block" | "math_block_label":
                return [f"$$\n{node.content.strip(chr(10))}\n$$"]
            case "html_block":
                return self._html(node.content)
            case "table":
                return [_table(node)]
            case "bullet_list" | "ordered_list":
                items = [self._item(item) for item in node.children]
                return _joined([p for item in items for p in item], "\n" if _is_tight(node) else "\n\n")
            case "blockquote":
                pieces = self._children(node)
                if pieces and isinstance(pieces[0], str):
                    pieces[0] = callout_text(pieces[0])
                return [p if isinstance(p, Table) else _prefixed(p, "> ", "> ") for p in pieces]
            case "hr" | "footnote_anchor":
                return []
            case "heading":
                return [_words(node)]
        return self._children(node)

    def _children(self, node: SyntaxTreeNode) -> list[str | Table]:
        return [piece for child in node.children for piece in self._render(child)]

    def _item(self, node: SyntaxTreeNode) -> list[str | Table]:
        marker = f"{node.info}{node.markup} " if node.info else "- "
        tight = all(child.hidden for child in node.children if child.type == "paragraph")
        pieces = _joined(self._children(node), "\n" if tight else "\n\n")
        if not pieces or isinstance(pieces[0], Table):
            return pieces
        indent = " " * len(marker)
        return [
            piece if isinstance(piece, Table) else _prefixed(piece, marker if i == 0 else indent, indent)
            for i, piece in enumerate(pieces)
        ]

    def _html(self, html: str) -> list[str | Table]:
        from rag.parsing.web import fragment_pieces

        pieces = fragment_pieces(html)
        self.draft.drop("markup", "" if pieces else html)
        return pieces


_KINDS: dict[str, BlockKind] = {"blockquote": "quote", "fence": "code", "code_block": "code"}


def _is_tight(node: SyntaxTreeNode) -> bool:
    return all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")


def _words(node: SyntaxTreeNode) -> str:
    """The plain text of a node that holds one inline run."""
    runs = [child.token for child in node.children if child.type == "inline"]
    return "".join(inline_text(run.children) for run in runs if run).strip()


def _is_all_bold(node: SyntaxTreeNode) -> bool:
    """Whether a paragraph is one bold run: a title to those who do not use "#"."""
    runs = [child for inline in node.children for child in inline.children if child.type != "text" or child.content]
    return len(runs) == 1 and runs[0].type == "strong"


def _table(node: SyntaxTreeNode) -> Table:
    rows = [
        [_words(cell).replace("\n", " ") for cell in row.children] for part in node.children for row in part.children
    ]
    return make_table(rows)


def _joined(pieces: list[str | Table], joiner: str) -> list[str | Table]:
    """Join neighbouring texts; tables stay between them."""
    joined: list[str | Table] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] = f"{joined[-1]}{joiner}{piece}"
        else:
            joined.append(piece)
    return joined


def _prefixed(text: str, first: str, rest: str) -> str:
    lines = text.split("\n")
    return "\n".join((first if i == 0 else rest) + line if line else line for i, line in enumerate(lines))
