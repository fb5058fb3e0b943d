"""Old and new encodings of Russian and western texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag.parsing.encodings import decode
from tests.documents import read, texts, whole

SENTENCE = "Ёлка — «первый» закон Ньютона: тело покоится, пока на него не действует сила."
ENCODINGS = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "utf-32-le",
    "cp1251",
    "koi8-r",
    "mac-cyrillic",
]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_one_sentence_in_any_encoding_gives_one_text(tmp_path: Path, encoding: str) -> None:
    document = read(tmp_path, "a.txt", SENTENCE.encode(encoding, errors="ignore"))
    assert texts(document) == [
        SENTENCE if encoding != "koi8-r" else SENTENCE.encode("koi8-r", "ignore").decode("koi8-r")
    ]
    assert document.report.encoding == encoding
    assert document.report.warnings == ()
    assert document.meta.language == "ru"


def test_dos_text_with_dos_line_ends(tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", "Лекция 5\r\n\r\nЭнергия сохраняется.\r\n".encode("cp866"))
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("heading", "Лекция 5"),
        ("paragraph", "Энергия сохраняется."),
    ]
    assert document.report.encoding == "cp866"


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp866", "mac-cyrillic"])
@pytest.mark.parametrize("text", ["Привет, мир!", "ФИЗИКА", "Термодинамика изучает тепло, entropy растёт.", "Лекция 5"])
def test_even_short_texts_are_told_apart(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    "text", ["L'été était très chaud, à bientôt François", "Die schöne Frau", "naïve café 5 €", "“Quoted” – it’s"]
)
def test_western_text_is_no_cyrillic(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


def test_a_guess_that_could_be_another_is_marked_doubtful(tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", "№ 5".encode("cp866"))
    assert [w.template for w in document.report.warnings] == [
        "The text encoding is a guess ({encoding}): check that the passages read well."
    ]


def test_one_torn_letter_does_not_garble_a_file(tmp_path: Path) -> None:
    data = (SENTENCE * 3).encode()[:-3] + b"\xd1 " + SENTENCE.encode()
    document = read(tmp_path, "a.txt", data)
    assert "закон Ньютона" in whole(document)
    assert document.report.encoding == "utf-8"


def test_letters_garbled_before_saving_are_restored_and_that_is_told(tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", "Физика – наука".encode().decode("latin-1").encode())
    assert texts(document) == ["Физика – наука"]
    assert len(document.report.warnings) == 1
    french = read(tmp_path, "b.txt", "Ça va, très bien, naïve".encode())
    assert texts(french) == ["Ça va, très bien, naïve"]
