"""What a passage's card says of the document it stands in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rag.types import FileStatus, Meta, SearchResult
from tests.fake_library import FakeLibrary
from tests.test_pages import ask, html, seen, start

TEXT = "Преломление света описал Снеллиус."


def note(library: FakeLibrary, meta: Meta, heading: tuple[str, ...] = ("Оптика",)) -> None:
    library.note("a.pdf", TEXT, heading)
    library._files["a.pdf"] = FileStatus("a.pdf", "indexed", 1, 1, meta=meta)
    library._chunks["a.pdf"] = [
        replace(chunk, date=meta.date, date_source=meta.date_source) for chunk in library._chunks["a.pdf"]
    ]


def test_a_card_tells_the_date_with_its_origin_the_author_and_the_title(library: FakeLibrary) -> None:
    note(library, Meta("Лекции <b>", "И. Ньютон", "2024-05-17", "properties"))
    page = html(ask(start(), "Кто описал преломление?"))
    assert 'title="Date of the document, from its properties: May 17, 2024">May 17, 2024<' in page
    assert 'title="Author: И. Ньютон"' in page
    assert "Лекции &lt;b&gt;</span>" in page


def test_a_file_s_time_is_not_called_the_document_s_date(library: FakeLibrary) -> None:
    note(library, Meta(date="2024-05-17", date_source="file time"))
    at = ask(start("ru-RU"), "Кто описал преломление?")
    assert "файл от 17 мая 2024" in seen(at)
    assert "Дата документа" not in html(at)


@pytest.mark.parametrize("title", ["ОПТИКА", "a", ""])
def test_a_title_that_the_place_says_already_is_not_said_twice(library: FakeLibrary, title: str) -> None:
    note(library, Meta(title))
    assert "Title of the document" not in html(ask(start(), "Кто описал преломление?"))


def test_nothing_is_said_where_nothing_is_known(library: FakeLibrary) -> None:
    note(library, Meta())
    assert 'class="k-of"' not in html(ask(start(), "Кто описал преломление?"))


@pytest.mark.parametrize("closeness", [0.87, None])
def test_a_card_tells_how_near_the_words_come_where_they_are_compared(
    library: FakeLibrary, monkeypatch: pytest.MonkeyPatch, closeness: float | None
) -> None:
    library.note("a.md", TEXT)
    search = library.search

    def compared(*args: Any, **options: Any) -> SearchResult:
        result = search(*args, **options)
        return replace(result, hits=tuple(replace(hit, closeness=closeness) for hit in result.hits))

    monkeypatch.setattr(library, "search", compared)
    page = seen(ask(start("ru-RU"), "Кто описал преломление?"))
    assert ("смысл слов" in page) is (closeness is not None)
    assert ("0,87" in page) is (closeness is not None)
