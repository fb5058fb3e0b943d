"""Builds the table from which SentencePiece tokenizers normalise text ("precompiled charsmap")."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import count
from typing import Any

_HAS_VALUE = 1 << 8
_VALUE = 1 << 31


def charsmap(replacements: Mapping[int, str]) -> bytes:
    """Return the table that replaces each code point (above 0) by a string.

    Its form is SentencePiece's: the byte length of a trie, the trie as a double array of u32 units over
    UTF-8 bytes (the layout of the darts-clone library), and the replacements, each ended by a zero byte.
    """
    texts = bytearray()
    trie: dict[int, Any] = {}
    for code in sorted(replacements):
        *head, last = chr(code).encode()
        node = trie
        for byte in head:
            node = node.setdefault(byte, {})
        node[last] = len(texts)
        texts += replacements[code].encode() + b"\0"
    units = _double_array(trie)
    return struct.pack(f"<I{len(units)}I", 4 * len(units), *units) + bytes(texts)


def _double_array(trie: dict[int, Any]) -> list[int]:
    """Lay the trie out. A unit holds its label in bits 0-7, "a value follows" in bit 8, and from bit 10 the
    number that its position is XORed with to give the base of its children; the child with label c stands
    at base XOR c, a value at the base itself. UTF-8 makes it simple: below the first byte all labels
    are 0x80-0xBF, so inner nodes take a block of 64 each; values fill the gaps."""
    units: dict[int, int] = {0: 0}
    bases = {0}
    blocks = count(256, 64)
    waiting: list[tuple[int, int, dict[int, Any]]] = [(0, 0, trie)]
    values: list[tuple[int, int]] = []
    while waiting:
        position, base, node = waiting.pop()
        units[position] |= (position ^ base) << 10
        for label, child in node.items():
            units[base ^ label] = label
            if isinstance(child, int):
                values.append((base ^ label, child))
            else:
                bases.add(inner := next(blocks))
                waiting.append((base ^ label, inner, child))
    gaps = (base for base in count(1) if base not in units and base not in bases)
    for position, value in values:
        base = next(gaps)
        units[position] |= (position ^ base) << 10 | _HAS_VALUE
        bases.add(base)
        units[base] = _VALUE | value
    size = (max(*units, *bases) // 256 + 1) * 256  # a lookup may touch base XOR any byte
    return [units.get(i, 0) for i in range(size)]
