"""The filters of the Ask page: offered where the library has such values, remembered, and handed to the search."""

from __future__ import annotations

from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.filters import Choices
from rag.types import FileStatus, Filters, Meta
from tests.fake_library import FakeLibrary
from tests.test_pages import ask, seen, start, visit

OPTICS = "Преломление света описал Снеллиус."


@pytest.fixture
def varied(library: FakeLibrary) -> FakeLibrary:
    note(library, "физика/оптика.md", Meta(language="ru", date="2024-05-17", tags=("экзамен", "волны")))
    note(library, "optics.md", Meta(language="en", date="2022", tags=("Экзамен",)))
    return library


def note(library: FakeLibrary, path: str, meta: Meta) -> None:
    library.note(path, OPTICS)
    library._files[path] = FileStatus(path, "indexed", 1, 1, meta=meta)


def labels(at: AppTest) -> list[str]:
    return [w.label for kind in ("multiselect", "button_group", "date_input") for w in getattr(at, kind)]


def asked(library: FakeLibrary) -> Filters | None:
    found = library.asked[-1]["filters"]
    assert found is None or isinstance(found, Filters)
    return found


def test_a_plain_library_is_offered_places_only(library: FakeLibrary) -> None:
    note(library, "a.md", Meta(language="ru", date="2024-05-17", date_source="file time"))
    note(library, "b.md", Meta(language="ru", date="2024-05-17", date_source="file time"))
    assert labels(start()) == ["Search only in these folders and files"]


def test_tags_languages_and_dates_are_offered_where_the_library_has_them(varied: FakeLibrary) -> None:
    at = start()
    assert labels(at) == [
        "Search only in these folders and files",
        "Only with one of these tags",
        "Only in these languages",
        "Dated from",
        "Dated until",
    ]
    assert at.multiselect(key="search-tags").options == ["#волны", "#Экзамен"]
    assert (at.date_input(key="search-from").min, at.date_input(key="search-from").max) == (
        date(2022, 1, 1),
        date(2024, 5, 17),
    )


def test_what_is_chosen_restricts_the_question_and_is_told_with_it(varied: FakeLibrary) -> None:
    at = start("ru-RU")
    at.multiselect(key="search-in").set_value(["физика/"]).run()
    at.multiselect(key="search-tags").set_value(["Экзамен"]).run()
    at.button_group(key="search-languages").set_value(["ru"]).run()
    at.date_input(key="search-from").set_value(date(2023, 1, 1)).run()
    assert "Поиск по 1 файлу" in seen(at)
    at = ask(at, "Кто описал преломление света?")
    assert asked(varied) == Filters(("физика",), (), ("Экзамен",), ("ru",), "2023-01-01", None)
    assert "Искали только здесь: физика/ · #Экзамен · русский · с 1 января 2023" in seen(at)


def test_what_was_chosen_is_remembered_on_other_pages_and_can_be_dropped_at_once(varied: FakeLibrary) -> None:
    at = start()
    at.multiselect(key="search-tags").set_value(["волны"]).run()
    at.date_input(key="search-to").set_value(date(2024, 5, 17)).run()
    at = visit(visit(at, "pages/library.py"), "app.py")
    ask(at, "Кто описал преломление света?")
    assert asked(varied) == Filters(tags=("волны",), date_to="2024-05-17")
    next(button for button in at.button if button.label == "Search everywhere").click().run()
    ask(at, "Кто описал дифракцию?")
    assert asked(varied) is None


def test_a_choice_that_leaves_no_file_is_told_before_the_question(varied: FakeLibrary) -> None:
    at = start()
    at.multiselect(key="search-tags").set_value(["волны"]).run()
    at.date_input(key="search-to").set_value(date(2022, 6, 1)).run()
    assert "No file fits: nothing will be found" in seen(at)


def test_a_chosen_file_that_is_deleted_no_longer_restricts(varied: FakeLibrary) -> None:
    at = start()
    at.multiselect(key="search-in").set_value(["optics.md"]).run()
    at.multiselect(key="search-tags").set_value(["Экзамен"]).run()
    varied.delete_file("optics.md")
    ask(at, "Кто описал преломление света?")
    assert asked(varied) is None


@pytest.mark.parametrize(
    ("dates", "bounds"),
    [
        (("2024", "2022-02"), (date(2022, 2, 1), date(2024, 12, 31))),
        (("2023-12", "2024-02"), (date(2023, 12, 1), date(2024, 2, 29))),
        (("2024", "2024"), None),
        (("soon", "later"), None),
        ((), None),
    ],
)
def test_dates_of_years_and_months_give_whole_years_and_months(
    dates: tuple[str, ...], bounds: tuple[date, date] | None
) -> None:
    files = [FileStatus(f"{n}.md", "indexed", meta=Meta(date=text)) for n, text in enumerate(dates)]
    assert Choices.of(files).dates == bounds
