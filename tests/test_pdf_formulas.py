"""Formulas in PDFs: in one line, without inventing anything."""

from __future__ import annotations

import pytest

from rag.parsing.formulas import with_formulas
from rag.parsing.glyphs import clean, lowered, raised
from rag.parsing.layout import Fragment, Piece, Rule
from rag.parsing.pdf_lines import build_lines


def piece(text: str, x: float, base: float, size: float = 12, math: bool = True) -> Fragment:
    box = (x, base - 0.8 * size, x + 0.5 * size * len(text), base + 0.2 * size)
    return Fragment((Piece(text, box, base, size, math=math),), box, base, size)


def line_of(fragments: list[Fragment], rules: list[Rule] | None = None) -> str:
    lines = build_lines(with_formulas(fragments, rules or [], 600), 1)
    return " / ".join(line.text for line in lines)


def test_a_stacked_fraction_is_written_with_its_bar() -> None:
    parts = [piece("P=", 50, 100), piece("a+b", 70, 92), piece("c", 76, 108), piece("−1", 94, 100)]
    assert line_of(parts, [Rule(69.5, 96.7, 88.5, 97.3)]) == "P = (a+b)/c −1"


def test_without_a_bar_no_fraction_is_made_up() -> None:
    assert "/" not in line_of([piece("a+b", 70, 92), piece("c", 76, 108)]).replace(" / ", " ")


def test_an_underlined_word_over_another_is_no_fraction() -> None:
    parts = [piece("Balance", 70, 100, math=False), piece("Sheets", 73, 113, math=False)]
    assert "Balance/Sheets" not in line_of(parts, [Rule(70, 101.5, 112, 102)])


@pytest.mark.parametrize("below", ["2021", "$ 7"])
def test_an_underlined_name_of_columns_is_no_numerator(below: str) -> None:
    parts = [piece("Year ended", 60, 92, math=False), piece(below, 78, 108, math=False)]
    assert "/" not in line_of(parts, [Rule(60, 96.7, 120, 97.3)]).replace(" / ", " ")


def test_words_in_a_fraction_stay_a_fraction() -> None:
    parts = [piece("путь", 70, 92, math=False), piece("время", 67, 108, math=False)]
    assert line_of(parts, [Rule(66, 96.7, 98, 97.3)]) == "путь/время"


def test_scripts_and_limits_are_written_after_what_they_belong_to() -> None:
    parts = [
        piece("x", 50, 100),
        piece("2", 57, 95, 8),
        piece("∞", 71, 88, 8),
        piece("∑", 70, 100),
        piece("i=1", 69, 112, 8),
        piece("a", 84, 100),
        piece("i", 90.5, 102, 8),
    ]
    assert line_of(parts) == "x² ∑^∞ᵢ₌₁ aᵢ"


def test_an_overlined_letter_keeps_its_line_and_a_root_its_extent() -> None:
    assert line_of([piece("P(A)", 50, 100)], [Rule(62, 89.5, 68, 90)]) == "P(A\u0305)"
    assert line_of([piece("√", 50, 100), piece("a+b", 56, 100)], [Rule(56, 90, 74, 90.5)]) == "√(a+b)"


@pytest.mark.parametrize(
    ("raw", "font", "expected"),
    [
        ("𝐴𝜎", "LibertineMathMI", "Aσ"),
        ("\x12\x13", "txexs", "()"),
        ("[", "cmex10", "⋃"),
        ("\x08\x1a", "LINE10", ""),
        ("x² ½", "Times", "x² ½"),
        ("\uf061\uf0b7", "Symbol", "α•"),
        ("cтудент", "Arial", "студент"),
        ("Wi-Fi", "Arial", "Wi-Fi"),
        ("ﬁnd", "Times", "find"),
        ("a\x0cb\x08", "Times", "ab"),
        ("ℎ", "txmia", "h"),
    ],
)
def test_characters_of_fonts_become_plain_ones(raw: str, font: str, expected: str) -> None:
    assert clean(raw, font) == expected


def test_a_formulas_letter_parts_from_the_cyrillic_word_beside_it() -> None:
    assert line_of(
        [piece("событие", 50, 100, math=False), piece("A", 92.5, 100), piece("и", 98.5, 100, math=False)]
    ) == ("событие A и")


def test_scripts_that_have_no_raised_form_are_marked() -> None:
    assert raised("n→∞", formula=True) == "^(n→∞)"
    assert lowered("тр", formula=True) == "_тр"
    assert raised("st", formula=False) == "st"
    assert raised("2", formula=False) == "²"
    assert raised("TM", formula=False) == "™"
