"""Every text for people has a Russian translation that says the same with the same values."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po

from rag.messages import msg
from rag.translations import LANGUAGES, LOCALE_FOLDER, best_language, catalogue

ROOT = Path(__file__).parent.parent
SOURCES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")), *sorted((ROOT / "rag").rglob("*.py"))]
KEYWORDS = {"_": None, "msg": None, "frame": None, "ngettext": (1, 2)}
FORMATTER = string.Formatter()


def templates() -> set[str | tuple[str, str]]:
    found: set[str | tuple[str, str]] = set()
    for source in SOURCES:
        for _line, text, _comments, _context in extract_from_file("python", source, keywords=KEYWORDS):
            found.add(tuple(text) if isinstance(text, tuple | list) else text)  # type: ignore[arg-type]
    return found


def russian() -> Catalog:
    with (LOCALE_FOLDER / "ru" / "LC_MESSAGES" / "konspekt.po").open("rb") as file:
        return read_po(file, locale="ru")


def values(template: str) -> set[str]:
    return {name for _text, name, _spec, _conversion in FORMATTER.parse(template) if name is not None}


def test_every_template_is_translated() -> None:
    texts = russian()
    missing = []
    for template in templates():
        found = texts.get(template if isinstance(template, str) else template[0])
        strings = (found.string,) if found and isinstance(found.string, str) else found.string if found else ()
        if not strings or not all(strings) or (found and found.fuzzy):
            missing.append(template)
    assert not missing, "run the commands in babel.cfg and translate: " + "\n".join(map(str, missing))


def test_a_translation_uses_exactly_the_values_of_its_template() -> None:
    for message in russian():
        if not message.id:
            continue
        singular = message.id if isinstance(message.id, str) else message.id[-1]
        strings = [message.string] if isinstance(message.string, str) else message.string
        for text in strings:
            assert not text or values(text) == values(singular), text


def test_what_a_person_types_is_the_same_in_translation() -> None:
    for message in russian():
        if isinstance(message.id, str) and isinstance(message.string, str):
            typed = [re.sub(r"NAME", "ИМЯ", code) for code in re.findall(r"`[^`]+`", message.id)]
            assert re.findall(r"`[^`]+`", message.string) == typed


def test_no_translation_is_left_of_a_template_that_is_gone() -> None:
    known = {text if isinstance(text, str) else text[0] for text in templates()}
    kept = {message.id if isinstance(message.id, str) else message.id[0] for message in russian() if message.id}
    assert kept <= known, kept - known


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_texts_are_written_where_the_extractor_finds_them(source: Path) -> None:
    """Inside an f-string, or made at run time, a template never reaches the catalogue."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
            assert not {call.func.id for call in calls if isinstance(call.func, ast.Name)} & KEYWORDS.keys()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("msg", "ngettext"):
            assert isinstance(node.args[0], ast.Constant), f"{source}:{node.lineno}"


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 файлов"),
        (1, "1 файл"),
        (2, "2 файла"),
        (5, "5 файлов"),
        (11, "11 файлов"),
        (21, "21 файл"),
        (112, "112 файлов"),
    ],
)
def test_russian_plurals(n: int, text: str) -> None:
    assert catalogue("ru").ngettext("{n} file", "{n} files", n).format(n=n) == text


def test_english_plurals() -> None:
    assert catalogue("en").ngettext("{n} file", "{n} files", 1).format(n=1) == "1 file"
    assert catalogue("en").ngettext("{n} file", "{n} files", 2).format(n=2) == "2 files"


def test_a_message_is_told_in_either_language() -> None:
    message = msg("The file has no page {page}.", page=7)
    assert message.text(catalogue("en").gettext) == "The file has no page 7."
    assert message.text(catalogue("ru").gettext) == "В файле нет страницы 7."


@pytest.mark.parametrize(
    ("locale", "language"),
    [("ru-RU", "ru"), ("ru", "ru"), ("RU_ru", "ru"), ("en-GB", "en"), ("de", "en"), (None, "en"), ("", "en")],
)
def test_the_language_of_the_browser_decides(locale: str | None, language: str) -> None:
    assert best_language(locale) == language
    assert language in LANGUAGES
