"""Filters: which files pass, and that a search never looks outside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rag.library import Library
from rag.retrieval.filtering import passes
from rag.settings import Paths
from rag.types import MODES, Filters, Meta, Mode
from tests.fakes import WordEmbedder

FILE = "физика/оптика/линзы.md"
META = Meta(date="2024-05-17", date_source="front matter", language="ru", tags=("Экзамен", "курс/оптика"))


@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(folders=("физика",)),
        Filters(folders=("физика/",)),
        Filters(folders=("/физика/оптика/",)),
        Filters(folders=("химия", "физика")),
        Filters(files=(FILE,)),
        Filters(folders=("химия",), files=(FILE,)),
        Filters(tags=("экзамен",)),
        Filters(tags=("#Экзамен", "другое")),
        Filters(tags=("курс",)),
        Filters(languages=("ru", "en")),
        Filters(languages=("RU",)),
        Filters(date_from="2024-05-17", date_to="2024-05-17"),
        Filters(date_from="2024", date_to="2024"),
        Filters(date_from="2024-05", date_to="2024-05"),
        Filters(folders=("физика",), tags=("экзамен",), languages=("ru",), date_from="2024-01-01"),
    ],
    ids=str,
)
def test_a_file_passes(filters: Filters) -> None:
    assert passes(FILE, META, filters)


@pytest.mark.parametrize(
    "filters",
    [
        Filters(folders=("физ",)),
        Filters(folders=("оптика",)),
        Filters(files=("линзы.md",)),
        Filters(tags=("экз",)),
        Filters(tags=("оптика",)),
        Filters(languages=("en",)),
        Filters(date_from="2024-05-18"),
        Filters(date_to="2024-05-16"),
        Filters(date_from="2024-06"),
        Filters(date_to="2023"),
        Filters(folders=("физика",), tags=("зачёт",)),
    ],
    ids=str,
)
def test_a_file_does_not_pass(filters: Filters) -> None:
    assert not passes(FILE, META, filters)


def test_dates_are_compared_as_far_as_both_are_told() -> None:
    year = Meta(date="2024")
    assert passes("a.md", year, Filters(date_from="2024-05-01"))
    assert passes("a.md", year, Filters(date_to="2024-05-01"))
    assert not passes("a.md", year, Filters(date_from="2025-01-01"))


def test_a_file_without_a_value_passes_no_filter_for_it() -> None:
    for filters in (
        Filters(tags=("a",)),
        Filters(languages=("ru",)),
        Filters(date_from="1999"),
        Filters(date_to="2999"),
    ):
        assert not passes("a.md", Meta(), filters)


def test_a_name_typed_with_loose_marks_is_the_same_name() -> None:
    assert passes("й/ё.md", Meta(), Filters(folders=("и\u0306",)))
    assert passes("й/ё.md", Meta(), Filters(files=("и\u0306/е\u0308.md",)))


NOTES = {
    "физика/оптика.md": "---\ntags: [экзамен]\ndate: 2024-05-17\n---\nСвет преломляется в воде: таков закон света.",
    "физика/звук.md": "---\ntags: [зачёт]\ndate: 2023-01-10\n---\nСвет и звук суть волны, свет в воздухе быстрее.",
    "химия/соль.md": "---\ndate: 2022\n---\nСвет разлагает соль серебра, поэтому соль хранят в тёмной посуде.",
    "light.md": "---\nlang: en\ndate: 2024-11-02\n---\nLight (свет) bends in water and glass, said the old lecturer.",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("filters")
    for name, text in NOTES.items():
        (folder / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    # Passages that fill every candidate's place, were the cut made before the filter.
    (folder / "notes" / "много").mkdir()
    for n in range(130):
        (folder / "notes" / "много" / f"{n}.md").write_text(
            f"---\ndate: 2020\n---\nСвет, свет, свет {n}.", encoding="utf-8"
        )

    def words(name: str, data: Path, url: str, progress: object = None) -> WordEmbedder:
        return WordEmbedder(name)

    with closing(Library.open(Paths(folder / "notes", folder / "data"), embedders=words)) as opened:
        assert not opened.sync().failed
        yield opened


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("filters", "files"),
    [
        (Filters(folders=("физика",)), {"физика/оптика.md", "физика/звук.md"}),
        (Filters(files=("химия/соль.md",)), {"химия/соль.md"}),
        (Filters(folders=("физика",), files=("light.md",)), {"физика/оптика.md", "физика/звук.md", "light.md"}),
        (Filters(tags=("зачёт",)), {"физика/звук.md"}),
        (Filters(languages=("en",)), {"light.md"}),
        (Filters(date_from="2024"), {"физика/оптика.md", "light.md"}),
        (Filters(date_from="2021", date_to="2023-01-10"), {"физика/звук.md", "химия/соль.md"}),
        (Filters(folders=("физика",), date_to="2023"), {"физика/звук.md"}),
        (Filters(tags=("нет такого",)), set()),
        (Filters(date_from="2030"), set()),
    ],
    ids=str,
)
def test_a_search_finds_only_what_passes_and_all_of_it(
    library: Library, mode: Mode, filters: Filters, files: set[str]
) -> None:
    result = library.search("свет", k=5, mode=mode, filters=filters)
    assert {hit.chunk.path for hit in result.hits} == files
    assert files or (result.refused and result.confidence == 0)


def test_a_filter_that_leaves_nothing_is_answered_by_a_refusal(library: Library) -> None:
    reply = library.ask("Что такое свет?", use_llm=False, filters=Filters(folders=("нет",)))
    assert "".join(reply)
    assert reply.answered_by == "refusal"
