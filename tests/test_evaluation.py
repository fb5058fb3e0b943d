"""Figures on control questions, computed from searches whose results are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag.errors import QuestionError
from rag.evaluation import evaluate, read_questions
from rag.types import Chunk, Hit, Mode, SearchResult


def hit(file: str, text: str = "", heading: tuple[str, ...] = (), pages: tuple[int, int] | None = None) -> Hit:
    first, last = pages or (None, None)
    return Hit(Chunk(f"{file}:{text}", file, 0, text, heading, first, last), 1.0)


class Answers:
    """A search that gives each question the hits laid down for it."""

    def __init__(self, hits: dict[str, list[Hit]], refused: set[str] | None = None) -> None:
        self.hits = hits
        self.refused = refused or set()
        self.asked: list[tuple[str, int, Mode]] = []

    def __call__(self, question: str, k: int, mode: Mode) -> SearchResult:
        self.asked.append((question, k, mode))
        refused = question in self.refused
        hits = tuple(self.hits.get(question, [])[:k])
        return SearchResult(question, hits, refused, 0.2 if refused else 0.9, 0.5, mode)


def figures(search: Answers, questions: list[dict[str, Any]], **options: Any) -> dict[str, Any]:
    return evaluate(search, questions, **options)["modes"]["hybrid"]


def test_hits_and_mrr_follow_the_rank_of_the_first_right_passage() -> None:
    search = Answers({"a": [hit("x"), hit("y")], "b": [hit("x"), hit("z"), hit("q"), hit("y")], "c": []})
    found = figures(search, [{"question": q, "file": "y"} for q in "abc"])
    assert (found["hit@1"], found["hit@3"], found["hit@5"]) == (0.0, 0.3333, 0.6667)
    assert found["mrr"] == pytest.approx((1 / 2 + 1 / 4) / 3, abs=1e-4)
    assert found["n"] == 3
    assert {k for _, k, _ in search.asked} == {5}


@pytest.mark.parametrize(
    ("place", "right"),
    [
        ({"page": 4}, True),
        ({"page": [1, 5]}, True),
        ({"page": 7}, False),
        ({"heading": "Глава 2"}, True),
        ({"heading": "Глава"}, False),
        ({"text": "преломления\nсвета   равен"}, True),
        ({"text": "другое"}, False),
        ({"page": 4, "heading": "Глава 2", "text": "преломления света"}, True),
    ],
)
def test_page_heading_and_text_must_match_where_they_are_given(place: dict[str, Any], right: bool) -> None:
    passage = hit("y", "Показатель преломления  света\nравен 1,33.", ("Оптика", "Глава  2"), (3, 5))
    found = figures(Answers({"q": [passage]}), [{"question": "q", "file": "y", **place}])
    assert found["hit@1"] == float(right)


def test_a_passage_without_pages_is_not_on_a_page() -> None:
    assert figures(Answers({"q": [hit("y")]}), [{"question": "q", "file": "y", "page": 1}])["hit@1"] == 0.0


def test_a_duplicate_named_beside_the_hit_counts() -> None:
    twin = Hit(Chunk("1", "copy.md", 0, "текст"), 1.0, same_in=("original.md",))
    assert figures(Answers({"q": [twin]}), [{"question": "q", "file": "original.md"}])["hit@1"] == 1.0


def test_other_right_places_count_and_both_places_are_counted_apart() -> None:
    questions = [
        {"question": "either", "file": "y", "also_ok": [{"file": "z"}]},
        {"question": "two", "file": "y", "also": [{"file": "w"}]},
        {"question": "half", "file": "y", "also": [{"file": "w"}]},
    ]
    search = Answers({"either": [hit("z")], "two": [hit("w"), hit("q"), hit("y")], "half": [hit("w"), hit("q")]})
    found = figures(search, questions)
    assert found["hit@1"] == 1.0
    assert (found["both@1"], found["both@3"]) == (0.0, 0.5)
    assert "both@1" not in figures(search, questions[:1])


def test_refusals_are_counted_apart_from_ranks() -> None:
    questions = [
        {"question": "known", "file": "y"},
        {"question": "wrongly refused", "file": "y"},
        {"question": "rightly refused", "answerable": False},
        {"question": "wrongly answered", "answerable": False},
    ]
    hits = {"known": [hit("y")], "wrongly refused": [hit("y")]}
    found = figures(Answers(hits, {"wrongly refused", "rightly refused"}), questions)
    assert found["hit@1"] == 1.0
    assert (found["answered"], found["refused"]) == (2, 2)
    assert (found["refusal_recall"], found["refusal_precision"], found["false_refusals"]) == (0.5, 0.5, 0.5)


def test_shares_of_nothing_are_none() -> None:
    found = figures(Answers({}), [{"question": "q", "answerable": False}])
    assert found["hit@1"] is None
    assert found["mrr"] is None
    assert found["refusal_precision"] is None
    assert found["false_refusals"] is None


def test_every_mode_has_figures_and_they_can_be_grouped() -> None:
    search = Answers({"a": [hit("y")], "b": []})
    questions = [{"question": "a", "file": "y", "kind": "term"}, {"question": "b", "file": "y", "kind": "typo"}]
    result = evaluate(search, questions, (1,), ("dense", "keyword"), by="kind")
    assert list(result["modes"]) == ["dense", "keyword"]
    groups = result["modes"]["keyword"]["by"]
    assert {value: group["hit@1"] for value, group in groups.items()} == {"term": 1.0, "typo": 0.0}
    assert "ms_p50" in groups["term"]


def test_misses_name_the_question_and_what_was_found_instead() -> None:
    search = Answers({"lost": [hit("x", heading=("H",), pages=(2, 2))], "known": [hit("y")]}, {"known"})
    questions = [
        {"question": "lost", "file": "y"},
        {"question": "known", "file": "y"},
        {"question": "none", "answerable": False},
    ]
    misses = evaluate(search, questions)["misses"]
    assert [(m["question"], m["problem"]) for m in misses] == [
        ("lost", "not found"), ("known", "refused"), ("none", "answered"),
    ]  # fmt: skip
    assert misses[0]["found"] == [{"file": "x", "heading": ["H"], "page": 2}]
    assert misses[0]["expected"]["file"] == "y"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{broken", "not JSON"),
        ('["list"]', "not a JSON object"),
        ('{"file": "y"}', "question"),
        ('{"question": "  ", "file": "y"}', "question"),
        ('{"question": "q"}', "file"),
        ('{"question": "q", "file": 3}', "file"),
        ('{"question": "q", "file": ""}', "file"),
        ('{"question": "q", "file": "y", "page": 0}', "page"),
        ('{"question": "q", "file": "y", "page": "three"}', "page"),
        ('{"question": "q", "file": "y", "page": true}', "page"),
        ('{"question": "q", "file": "y", "heading": 4}', "heading"),
        ('{"question": "q", "answerable": "no"}', "answerable"),
        ('{"question": "q", "file": "y", "also": {"file": "z"}}', "also"),
        ('{"question": "q", "file": "y", "also_ok": [{"page": 2}]}', "file"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"question": "good", "file": "y"}\n\n' + line + "\n", encoding="utf-8")
    with pytest.raises(QuestionError) as caught:
        read_questions(file)
    assert "Line 3" in str(caught.value)
    assert words in str(caught.value)


def test_questions_given_directly_are_checked_too() -> None:
    with pytest.raises(QuestionError, match="Question 2"):
        evaluate(Answers({}), [{"question": "q", "file": "y"}, {"question": "q"}])


def test_a_file_that_cannot_be_read_or_is_empty_says_so(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=r"missing\.jsonl"):
        read_questions(tmp_path / "missing.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n", encoding="utf-8")
    with pytest.raises(QuestionError, match="no questions"):
        read_questions(tmp_path / "empty.jsonl")


def test_a_byte_order_mark_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + '{"question": "q", "file": "é.md"}\n\n'.encode())
    assert read_questions(file) == [{"question": "q", "file": "é.md"}]
