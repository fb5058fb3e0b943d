"""EPUB: the chapters in the order of the spine, named by the table of contents where they have no heading."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rag.errors import ParsingError, PasswordNeeded
from rag.messages import msg
from rag.parsing.draft import Draft
from rag.parsing.encodings import decode
from rag.parsing.metadata import iso_date
from rag.parsing.web import html_blocks
from rag.types import Meta

MAX_CHAPTER = 50_000_000


def parse_epub(path: Path) -> Draft:
    """Read an EPUB 2 or 3. A chapter that is missing or damaged costs that chapter."""
    with zipfile.ZipFile(path) as archive:
        book = _Book(archive)
        draft = Draft(meta=book.meta())
        for href in book.spine():
            try:
                page = decode(archive.read(href)[:MAX_CHAPTER], "utf-8").text
            except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
                draft.warn(msg("The chapter {name} of this book is missing or damaged.", name=posixpath.basename(href)))
                continue
            _chapter(page, book.titles.get(href, ""), draft)
    return draft


def _chapter(page: str, title: str, draft: Draft) -> None:
    draft.close_headings()
    probe = Draft()
    html_blocks(page, probe, article=False)
    if title and probe.blocks and not any(b.kind == "heading" for b in probe.blocks):
        draft.heading(title, 1)
    draft.extend(probe)


class _Book:
    """The package file of a book: what it is about, and the order of its chapters."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        container = self._xml("META-INF/container.xml")
        files = [node.get("full-path") for node in _named(container, "rootfile")]
        if not files or not files[0]:
            raise ParsingError(msg("This EPUB has no list of contents: it is damaged. Download or convert it anew."))
        self._refuse_locked()
        self._base = posixpath.dirname(files[0])
        self._package = self._xml(files[0])
        self._items = {item.get("id"): item for item in _named(self._package, "item")}
        self.titles = dict(self._titles())

    def _xml(self, name: str) -> Any:
        from lxml import etree

        try:
            data = self._archive.read(name)
        except KeyError as error:
            raise ParsingError(
                msg("This EPUB has no list of contents: it is damaged. Download or convert it anew.")
            ) from error
        return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, recover=True))

    def _refuse_locked(self) -> None:
        """Fonts may be scrambled without harm; scrambled chapters mean that a shop has locked the book."""
        if "META-INF/encryption.xml" in self._archive.namelist():
            targets = [str(n.get("URI", "")) for n in _named(self._xml("META-INF/encryption.xml"), "CipherReference")]
            if any(target.lower().endswith(("html", "htm", "xml")) for target in targets):
                raise PasswordNeeded(msg("This book is locked by its shop (DRM) and cannot be read."))

    def meta(self) -> Meta:
        """What the package says of the book."""
        authors = ", ".join(self._texts("creator"))
        date = next((d for text in self._texts("date") if (d := iso_date(text))), None)
        meta = Meta(title=next(iter(self._texts("title")), ""), author=authors)
        language = next(iter(self._texts("language")), "")[:2].lower()
        return replace(meta, date=date, date_source="properties" if date else "", language=language)

    def _texts(self, name: str) -> list[str]:
        return [text for n in _named(self._package, name) if (text := " ".join("".join(n.itertext()).split()))]

    def spine(self) -> Iterator[str]:
        """The chapters' files in reading order; the table of contents is none."""
        for reference in _named(self._package, "itemref"):
            item = self._items.get(reference.get("idref"))
            if item is not None and "nav" not in (item.get("properties") or "").split():
                yield self._path(item.get("href") or "")

    def _path(self, href: str, base: str | None = None) -> str:
        file = unquote(href.partition("#")[0])
        return posixpath.normpath(posixpath.join(self._base if base is None else base, file))

    def _titles(self) -> Iterator[tuple[str, str]]:
        """(file, title) from the table of contents, last first, so that a file keeps its first title."""
        entries: list[tuple[str, str]] = []
        for item in self._items.values():
            kind, name = item.get("media-type"), self._path(item.get("href") or "")
            if name not in self._archive.namelist():
                continue
            base = posixpath.dirname(name)
            if "nav" in (item.get("properties") or "").split():
                links = [a for nav in _named(self._xml(name), "nav") for a in _named(nav, "a")]
                entries += [(self._path(a.get("href") or "", base), "".join(a.itertext())) for a in links]
            elif kind == "application/x-dtbncx+xml":
                for point in _named(self._xml(name), "navPoint"):
                    target = next(iter(_named(point, "content")), None)
                    label = "".join(t for n in _named(point, "navLabel")[:1] for t in n.itertext())
                    if target is not None:
                        entries.append((self._path(target.get("src") or "", base), label))
        yield from ((file, " ".join(title.split())) for file, title in reversed(entries))


def _named(root: Any, name: str) -> list[Any]:
    return root.xpath(f".//*[local-name()='{name}']") if root is not None else []
