"""Words that sound alike in two alphabets."""

from __future__ import annotations

import pytest

from rag.retrieval.asking import understand
from rag.retrieval.cognates import cognate, sound
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.words import tokens


def index_of(*texts: str) -> KeywordIndex:
    index = KeywordIndex()
    for n, text in enumerate(texts):
        index.replace(f"{n}.md", [(str(n), tokens(text))])
    return index


@pytest.mark.parametrize(
    ("english", "russian"),
    [
        ("transaction", "транзакция"),
        ("entropy", "энтропию"),
        ("philosophy", "философия"),
        ("Newcastle", "Ньюкасле"),
        ("Chebyshev", "Чебышева"),
        ("psychology", "психологию"),
        ("process", "процессов"),
        ("quasar", "квазаров"),
        ("Chicago", "Чикаго"),
        ("technology", "технологиям"),
        ("matrix", "матрикс"),
        ("Tesla", "Тесла"),
        ("Einstein", "Эйнштейну"),
        ("Stiglitz", "Стиглица"),
    ],
)
def test_a_word_is_found_by_its_sound_both_ways(english: str, russian: str) -> None:
    [latin], [cyrillic] = tokens(english), tokens(russian)
    assert cognate(latin, index_of(f"слово {russian} и другие слова")) == cyrillic
    assert cognate(cyrillic, index_of(f"the word {english} among others")) == latin


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("found", "найти фонтан"),
        ("ring", "рынок"),
        ("cat", "кат"),
        ("rome", "кроме"),
        ("дом", "dome"),
    ],
)
def test_words_that_merely_resemble_are_not_taken(asked: str, held: str) -> None:
    assert cognate(tokens(asked)[0], index_of(held)) is None


def test_a_word_that_the_library_holds_means_itself() -> None:
    assert cognate("process", index_of("процесс", "a process")) is None
    assert "процесс" not in understand("What is a process?", index_of("процесс", "a process")).weights


def test_the_nearest_is_taken_and_of_equals_the_commonest() -> None:
    assert cognate("protest", index_of("протест протеста", "протез")) == "протест"
    assert sound("тесл") == sound("тэсл")
    assert cognate("tesl", index_of("тесла", "тэсла", "тэслу")) == "тэсл"


def test_only_what_some_passage_still_holds_is_taken() -> None:
    index = index_of("транзакция", "другое")
    index.remove("0.md")
    assert cognate("transact", index) is None


def test_a_question_looks_the_word_up_with_a_part_of_its_weight() -> None:
    asked = understand("What is a transaction?", index_of("Транзакция переводит базу из одного состояния в другое."))
    assert asked.weights["транзакц"] == pytest.approx(0.7)
    assert asked.weights["transact"] == pytest.approx(0.3)


def test_a_name_counts_as_the_name_that_the_library_holds() -> None:
    asked = understand("Where did Newcastle lie?", index_of("Ньюкасл лежит на реке Тайн."))
    assert asked.exact == {"ньюкасл"}


@pytest.mark.parametrize("stem", ["", "2022", "x2", "日本", "αβγδε"])
def test_what_is_written_in_neither_alphabet_has_no_sound(stem: str) -> None:
    assert sound(stem) == ""
    assert cognate(stem, index_of("слово word")) is None


RUSSIAN = "Транзакция переводит базу данных из одного согласованного состояния в другое, а слой layer хранит страницы"


def test_a_foreign_word_that_is_missing_is_not_misspelt() -> None:
    asked = understand("Should the player wait?", index_of(RUSSIAN))
    assert "layer" not in asked.weights
    assert asked.weights["player"] == 1.0


def test_a_foreign_word_in_a_question_of_the_library_s_language_is_mended() -> None:
    asked = understand("Что хранит слой leyer?", index_of(RUSSIAN))
    assert asked.weights["layer"] == pytest.approx(0.7)
