"""Obsidian's additions to Markdown: [[wikilinks]], ![[embeds]], ==highlights==, %%comments%%, callouts and #tags."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rag.types import Meta

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n|]+)(?:\|([^\[\]\n]*))?\]\]")
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_HIGHLIGHT = re.compile(r"==(?=\S)([^=\n]+?)(?<=\S)==")
_CALLOUT = re.compile(r"\A\[!([\w-]+)\][+-]?[ \t]*")
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*\Z")
_TAG = re.compile(r"(?:^|(?<=\s))#([^\W\d][\w/-]*)")
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)$", re.IGNORECASE)


def add_obsidian_rules(grammar: MarkdownIt) -> None:
    """Teach a grammar wikilinks, comments and highlights. All become plain text."""
    grammar.inline.ruler.before("link", "wikilink", _wikilink)
    grammar.inline.ruler.before("image", "embed", _wikilink)
    grammar.inline.ruler.before("text", "obsidian", _marks)


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        state.push("wikilink", "", 0).content = _wikilink_words(*found.groups())
    state.pos = found.end()
    return True


def _wikilink_words(embed: str, target: str, alias: str | None) -> str:
    """[[Note#Part|alias]] is its alias, else its target as words. An embed's alias may be a mere width ("300")."""
    name = target.strip().replace("#^", "#").replace("#", " › ").strip(" ›")
    if embed and _PICTURE.search(target.strip()):
        words = "" if not alias or re.fullmatch(r"\d+(x\d+)?", alias.strip()) else alias.strip()
        return f"[image: {words}]" if words else "[image]"
    return alias.strip() if alias and alias.strip() else name


def _marks(state: StateInline, silent: bool) -> bool:
    """==highlight== loses its marks, a %%comment%% goes."""
    begins = state.pos == 0 or state.src[state.pos - 1].isspace()
    found = _COMMENT.match(state.src, state.pos) if begins else None
    text = ""
    if not found:
        found = _HIGHLIGHT.match(state.src, state.pos)
        text = found.group(1) if found else ""
    if not found:
        return False
    if not silent:
        state.push("wikilink", "", 0).content = text
    state.pos = found.end()
    return True


def callout_text(quote: str) -> str:
    """A callout's first line: "[!note] Title" is its title, a bare "[!warning]" its type."""
    found = _CALLOUT.match(quote)
    if not found:
        return quote
    first, _, rest = quote[found.end() :].partition("\n")
    return f"{first.strip() or found.group(1).capitalize()}\n{rest}".rstrip()


def drop_block_id(text: str) -> str:
    """Take a block's own address ("... ^a1b2c3") off the end of a paragraph."""
    return _BLOCK_ID.sub("", text)


def find_tags(text: str, meta: Meta) -> Meta:
    """Add the #tags that stand in the text, outside code, to those of the front matter."""
    tags = _TAG.findall(_FENCE.sub(" ", text))
    return replace(meta, tags=tuple(dict.fromkeys((*meta.tags, *tags))))
