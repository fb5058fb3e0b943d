"""Markdown, with what students' tools add to it: front matter, formulas, footnotes, Obsidian's links and callouts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rag.parsing.draft import Draft, make_table
from rag.parsing.frontmatter import split_front_matter
from rag.parsing.inline import autolink_text, inline_text, reflow
from rag.parsing.links import cut_data_uris
from rag.parsing.obsidian import add_obsidian_rules, find_tags
from rag.parsing.text import read_text
from rag.types import BlockKind, Table

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

MAX_NESTING = 60
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
    text, cut = cut_data_uris(text)
    draft.drop_count("data", cut)
    tokens = _grammar().parse(text)
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
                    self.draft.heading(_words(node), int(node.tag[1]))
                case "bullet_list" | "ordered_list":
                    self._list(node)
                case "footnote_block":
                    self._footnotes(node)
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
            label = note.meta.get("label") or str(note.meta["id"] + 1)
            text = "\n".join(p for p in self._children(note) if isinstance(p, str))
            self.draft.add(f"[{label}] {text}", "note")

    def _render(self, node: SyntaxTreeNode) -> list[str | Table]:
        """A node as text, with the tables inside it left whole."""
        match node.type:
            case "paragraph":
                text = reflow(_words(node))
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
                return [p if isinstance(p, Table) else _prefixed(p, "> ", "> ") for p in self._children(node)]
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
        first, *rest = pieces
        return [
            _prefixed(first, marker, indent),
            *(p if isinstance(p, Table) else _prefixed(p, indent, indent) for p in rest),
        ]

    def _html(self, html: str) -> list[str | Table]:
        from rag.parsing.web import fragment_text

        text = fragment_text(html)
        self.draft.drop("markup", "" if text else html)
        return [text] if text else []


_KINDS: dict[str, BlockKind] = {"blockquote": "quote", "fence": "code", "code_block": "code"}


def _is_tight(node: SyntaxTreeNode) -> bool:
    return all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")


def _words(node: SyntaxTreeNode) -> str:
    """The plain text of a node that holds one inline run."""
    return "".join(inline_text(child.token.children) for child in node.children if child.type == "inline").strip()


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
