"""Words, stems and the keyword index."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Plus

from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.words import tokens, words

Rows = list[tuple[str, str, list[str]]]


def index(**texts: str) -> KeywordIndex:
    """An index of one passage a file, its id the file's name."""
    return KeywordIndex([(name, f"{name}.md", tokens(text)) for name, text in texts.items()])


def found(keywords: KeywordIndex, question: str, n: int = 10, paths: list[str] | None = None) -> list[str]:
    return [chunk_id for chunk_id, _ in keywords.query(tokens(question), n, paths)]


def test_other_cases_of_a_russian_word_find_it_first() -> None:
    keywords = index(
        heat="Тепловой двигатель превращает теплоту в работу.",
        light="Преломление света на границе двух сред.",
        engine="Двигатель внутреннего сгорания устроен иначе.",
    )
    assert found(keywords, "теплового двигателя")[0] == "heat"


def test_yo_and_ye_are_one_letter() -> None:
    keywords = index(tree="На площади стоит ёлка.", other="На площади стоит памятник.")
    assert found(keywords, "елка") == ["tree"]
    assert found(index(tree="Зелёная елка."), "ёлку") == ["tree"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ПРОЦЕСС процессы", ["процесс", "процесс"]),
        ("IFRS 16, § 3.2", ["ifr", "16", "3.2"]),
        ("1,234,567 и 0,5", ["1234567", "и", "0.5"]),
        ("café naïve", ["cafe", "naiv"]),
        ("уда\u0301рная во\u00adлна", ["ударн", "волн"]),
        ("й й", ["й", "й"]),
        ("B5000 RAID5", ["b5000", "raid5"]),
        ("FY2022", ["fy2022", "fy", "2022"]),
        ("Q22023", ["q22023", "q2", "2023"]),
        ("A₁ A1 Ａ１", ["a1", "a1", "a1"]),
        ("x² + см³, ФОТО ｆｕｌｌ", ["x2", "см3", "фот", "full"]),
        ("энтропия¹ entropy²", ["энтроп", "1", "entropi", "2"]),
        ("Приказ №5, № 5", ["приказ", "5", "5"]),
        ("Windows™ ﬁnd", ["window", "find"]),
        ("機械学習", ["機械", "械学", "学習"]),
        ("??? 🙂 \u200b", []),
        ("", []),
    ],
)
def test_a_text_is_split_and_folded(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    "text", ["A₁ и x²", "Приказ №5 от 1999 г.", "энтропия¹", "Windows™ 11", "Ｆull ｗidth", "ударе\u0301ние"]
)
def test_a_question_s_words_have_the_stems_of_a_passage_s(text: str) -> None:
    assert [stem for word in words(text) for stem in word.stems] == tokens(text)


def test_stemming_from_several_threads_gives_what_one_thread_gives() -> None:
    texts = [f"запрос{n}ами процессорами считывающие reading{n}s running" for n in range(300)]
    expected = [tokens(text) for text in texts]
    results: list[list[list[str]]] = []
    fresh = [f"{text} потоки{n} threads{n}" for n, text in enumerate(texts)]

    def work() -> None:
        results.append([tokens(text) for text in fresh])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == results[0] for result in results)
    assert [tokens(text) for text in texts] == expected


def test_an_empty_index_finds_nothing() -> None:
    assert KeywordIndex().query(["слово"], 5) == []
    assert found(index(blank="", spaces="  \n"), "слово") == []


def test_a_word_in_the_only_note_or_in_every_note_scores_above_zero() -> None:
    one = index(a="Закон Ома")
    assert [score > 0 for _, score in one.query(tokens("закон"), 3)] == [True]
    two = index(a="Закон Ома", b="Закон Ома для участка цепи, подробно и долго")
    assert [score > 0 for _, score in two.query(tokens("закон"), 3)] == [True, True]
    assert found(two, "закон")[0] == "a"


def test_only_passages_that_share_a_word_are_found() -> None:
    keywords = index(a="кошка и собака", b="собака", c="птица")
    assert set(found(keywords, "собака рыба")) == {"a", "b"}
    assert found(keywords, "рыба") == []


def test_a_search_is_restricted_before_it_is_cut() -> None:
    keywords = index(a="закон закон закон", b="закон и порядок на улицах города")
    assert found(keywords, "закон", n=1, paths=["b.md"]) == ["b"]
    assert found(keywords, "закон", paths=[]) == []


def test_equal_scores_are_ordered_by_id() -> None:
    texts = dict.fromkeys("dbca", "одинаковый текст")
    assert found(index(**texts), "текст") == ["a", "b", "c", "d"]


def bm25plus(rows: Rows, question: list[str]) -> dict[str, float]:
    """Return the scores of rank_bm25 without the lower bound it also gives for words that a passage lacks."""
    reference = BM25Plus([stems for _, _, stems in rows])
    scores = reference.get_scores(question)
    return {
        row[0]: score - sum(reference.delta * reference.idf.get(q, 0) for q in question if q not in row[2])
        for row, score in zip(rows, scores, strict=True)
        if set(question) & set(row[2])
    }


def random_rows(seed: int, files: int = 12) -> Rows:
    chance = random.Random(seed)
    vocabulary = [f"w{n}" for n in range(60)]
    return [
        (f"id{n:03}", f"file{n % files}", [chance.choice(vocabulary) for _ in range(chance.randint(1, 40))])
        for n in range(90)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_bm25plus_after_any_changes(seed: int) -> None:
    rows = random_rows(seed)
    keywords = KeywordIndex(rows[:30])
    for file in {path for _, path, _ in rows}:
        keywords.replace(file, [(chunk_id, stems) for chunk_id, path, stems in rows if path == file])
    keywords.remove("file3")
    keywords.replace("file4", [])
    alive = [row for row in rows if row[1] not in ("file3", "file4")]
    question = ["w1", "w2", "w2", "w50", "unknown"]
    scores = dict(keywords.query(question, 1000))
    expected = bm25plus(alive, question)
    assert scores.keys() == expected.keys()
    assert np.allclose([scores[i] for i in expected], list(expected.values()), atol=1e-5)
    assert len(keywords) == len(alive)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from("xyz"), max_size=4)), max_size=12))
def test_changes_one_by_one_give_the_index_built_at_once(changes: list[tuple[str, list[str]]]) -> None:
    keywords, latest = KeywordIndex(), dict[str, list[str]]()
    for path, stems in changes:
        keywords.replace(path, [(f"{path}{n}", [stem]) for n, stem in enumerate(stems)])
        latest[path] = stems
    rows = [(f"{path}{n}", path, [stem]) for path, stems in latest.items() for n, stem in enumerate(stems)]
    assert keywords.query(["x", "y"], 100) == KeywordIndex(rows).query(["x", "y"], 100)


def test_every_change_raises_the_version_and_a_removed_file_is_not_found() -> None:
    keywords = index(a="закон", b="закон")
    before = keywords.version
    keywords.remove("a.md")
    assert keywords.version > before
    assert found(keywords, "закон") == ["b"]
    assert keywords.frequency("закон") == 1


def test_searching_goes_on_while_files_are_replaced() -> None:
    keywords = index(fixed="закон сохранения энергии")
    failures: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                assert "fixed" in found(keywords, "закон")
        except BaseException as error:  # noqa: BLE001 - handed to the main thread
            failures.append(error)

    searcher = threading.Thread(target=search)
    searcher.start()
    for n in range(200):
        keywords.replace(f"file{n % 20}", [(f"id{n}", tokens("закон и ещё слова"))])
    done.set()
    searcher.join()
    assert not failures


def test_a_match_tells_how_much_of_the_question_it_covers() -> None:
    keywords = index(both="кошка собака", one="кошка", none="птица")
    matches = {m.chunk_id: m for m in keywords.search({"кошк": 1.0, "собак": 1.0}, 10)}
    assert matches["both"].covered == pytest.approx(1.0)
    assert 0 < matches["one"].covered < 0.5
    assert keywords.judge({"кошк": 1.0}, ["one", "none"]).keys() == {"one"}
