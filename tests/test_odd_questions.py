"""Odd questions and odd libraries, through the whole library in every mode: nothing breaks, nothing is made up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from rag.errors import QuestionError
from rag.library import Library
from rag.settings import Paths
from rag.types import MODES, Hit, Mode
from tests.fakes import WordEmbedder

NOTES = {
    "оптика.md": "# Оптика\n\n## Преломление\n\nПоказатель преломления воды равен 1,33.\n\n## Линзы\n\nТонкая линза.",
    "тепло.md": "# Тепло\n\nТепловой двигатель превращает теплоту в работу.\n\n# Цикл\n\nЦикл Карно идеален.",
    "праздник.md": "# Новый год\n\nНа площади стоит ёлка, под ёлкой подарки.",
    "право.md": "".join(f"# Договор {n}\n\n§ {n}.2. Стороны договора несут обязательства.\n\n" for n in range(2, 9)),
    "учёт.md": "".join(
        f"# Стандарт\n\nIFRS {n} говорит об учёте аренды и обязательствах.\n\n" for n in (9, 15, 16, 17, 18, 19)
    ),
    "формулы.md": "# Матрицы\n\nЭлемент A₁ матрицы, x² в квадрате, ＡＢＣ.\n\n# Приказ\n\nПриказ №512 о сессии.",
    "поэма.md": "# Поэма\n\nЧичиков купил мёртвые души.\n\n# Критика\n\nДуши героев мертвы, мёртвые живы: души.",
}


def opened(folder: Path, notes: dict[str, str]) -> Library:
    for name, text in notes.items():
        (folder / "notes" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    (folder / "notes").mkdir(exist_ok=True)
    made = Library.open(Paths(folder / "notes", folder / "data"), embedders=lambda *how: WordEmbedder())
    made.sync()
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with closing(opened(tmp_path_factory.mktemp("odd"), NOTES)) as made:
        yield made


def first(library: Library, question: str, mode: Mode = "keyword") -> Hit:
    return library.search(question, mode=mode).hits[0]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("теплового двигателя", "Тепловой двигатель превращает"),
        ("тепловыми двигателями", "Тепловой двигатель превращает"),
        ("елка", "стоит ёлка"),
        ("ЁЛКИ", "стоит ёлка"),
        ("A1", "Элемент A₁"),
        ("a₁", "Элемент A₁"),
        ("x2", "x²"),
        ("abc", "ＡＢＣ"),
        ("приказ № 512", "№512"),
        ("IFRS 16", "IFRS 16"),
        ("ifrs16 аренда", "IFRS"),
        ("§ 3.2", "§ 3.2"),
        ("Что сказано в § 7.2 договора?", "§ 7.2"),
        ("п. 5.2", "§ 5.2"),
    ],
)
def test_words_are_found_at_rank_one_however_they_are_written(library: Library, question: str, text: str) -> None:
    best = first(library, question)
    assert text in best.chunk.text
    assert best.keyword_rank == 1
    assert text in first(library, question, "hybrid").chunk.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("zakon prelomleniya vody", "Показатель преломления"),
        ("ghtkjvktybt djls", "Показатель преломления"),
        ("teplovoy dvigatel", "Тепловой двигатель"),
        ("lineyka moya i tonkaya linza", "Тонкая линза"),
        ("ntgkjdjq ldbufntkm", "Тепловой двигатель"),
        ("Штрафы по ШАКЫ 17", "IFRS 17"),
        ("преломленее", "Показатель преломления"),
    ],
)
def test_other_alphabets_keyboards_and_slips_are_understood(library: Library, question: str, text: str) -> None:
    assert text in first(library, question).chunk.text
    assert text in first(library, question, "hybrid").chunk.text


def test_a_quoted_phrase_that_is_rare_stands_first(library: Library) -> None:
    assert "Чичиков" in first(library, "Где говорится про «мёртвые души»?", "hybrid").chunk.text
    assert "Чичиков" in first(library, 'о чём "мертвые души"', "keyword").chunk.text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "и в на что это",
        "what is the",
        "???",
        "🙂",
        "👩‍🔬👩‍🔬",
        "«»",
        "a\x00",
        "…",
        "-",
        "\u202eабв",
        "((((",
        "%_'\";--",
    ],
)
def test_a_question_that_holds_nothing_breaks_nothing(library: Library, mode: Mode, question: str) -> None:
    result = library.search(question, mode=mode)
    assert len(result.hits) <= 3
    assert all(hit.keyword_rank is None for hit in result.hits)
    assert library.ask(question, use_llm=False).finish(30).text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "слово " * 833,
        ("Показатель преломления воды? " * 200)[:5000],
        "ы" * 5000,
        "1.2." * 1250,
        "«" * 2500 + "»" * 2500,
    ],
    ids=["unknown words", "known words", "one word", "numbers", "quotes"],
)
def test_five_thousand_characters_break_nothing(library: Library, mode: Mode, question: str) -> None:
    assert len(library.search(question, mode=mode).hits) <= 3


@pytest.mark.parametrize("mode", MODES)
def test_spaces_alone_are_told(library: Library, mode: Mode) -> None:
    with pytest.raises(QuestionError):
        library.search(" \u00a0\n", mode=mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("notes", "hits"),
    [
        ({}, 0),
        ({"blank.md": "", "spaces.md": " \n\n"}, 0),
        ({"one.md": "Закон Ома связывает ток и напряжение."}, 1),
        ({"a.md": "Закон Ома.", "b.md": "Закон Ома для полной цепи и ещё много слов про токи и провода."}, 2),
        ({"a.md": "Закон Ома связывает ток и напряжение.", "blank.md": ""}, 1),
    ],
    ids=["empty", "blank", "one", "two", "one and a blank"],
)
def test_small_libraries_are_searched(tmp_path: Path, mode: Mode, notes: dict[str, str], hits: int) -> None:
    with closing(opened(tmp_path, notes)) as library:
        result = library.search("закон Ома", k=3, mode=mode)
        assert len(result.hits) == hits
        assert all(hit.score > 0 for hit in result.hits[:1])
        assert result.refused or hits
        scores = [hit.score for hit in result.hits]
        assert scores == sorted(scores, reverse=True)
        assert library.ask("закон Ома", k=3, use_llm=False).finish(30).text
