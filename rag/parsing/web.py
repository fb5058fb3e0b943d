"""HTML."""

from __future__ import annotations


def fragment_text(html: str) -> str:
    """The words of a piece of HTML."""
    from lxml import html as lxml_html

    root = lxml_html.fragment_fromstring(html, create_parent="div")
    for node in root.xpath("//script|//style|//comment()"):
        node.drop_tree()
    return "\n".join(" ".join(line.split()) for line in root.text_content().strip().split("\n"))
