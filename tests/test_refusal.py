"""An honest no: the bundled model over a handful of real notes, and the arithmetic of the confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes import MemoryStore

from rag.chunking import embedding_texts, keyword_text
from rag.models.embedding import load_embedder
from rag.models.sentence_reader import SentenceReader
from rag.protocols import Embedder
from rag.retrieval import Retriever, passage_text
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.late_interaction import LateInteraction
from rag.retrieval.refusal import Background, Evidence, coherence, confidence, evidence, learn
from rag.retrieval.words import tokens
from rag.types import Chunk, Mode

MODES: tuple[Mode, ...] = ("hybrid", "dense", "keyword", "keyword-then-dense")

NOTES = {
    "Преломление": "Показатель преломления показывает, во сколько раз скорость света в среде меньше скорости света в "
    "вакууме. У воды он равен 1,33, у стекла около 1,5.",
    "Закон Снеллиуса": "Отношение синусов углов падения и преломления равно отношению показателей преломления сред.",
    "Линзы": "Тонкая собирающая линза сводит параллельный пучок в фокус. Оптическая сила измеряется в диоптриях.",
    "Интерференция": "При сложении когерентных волн возникает устойчивая картина максимумов и минимумов.",
    "Дифракция": "Свет огибает препятствия, сравнимые с длиной волны. Решётка раскладывает белый свет в спектр.",
    "Поляризация": "Поляризатор пропускает волны с одним направлением колебаний. Закон Малюса даёт интенсивность.",
    "Фотоэффект": "Электроны вылетают из металла под действием света, если частота выше красной границы.",
    "Зеркала": "В плоском зеркале изображение мнимое, прямое и равно предмету по размеру.",
    "Глаз": "Хрусталик меняет кривизну, и изображение предмета попадает на сетчатку. Близорукость исправляют "
    "рассеивающей линзой.",
    "Дисперсия": "Показатель преломления зависит от частоты, поэтому призма раскладывает свет на цвета.",
}


def library(embedder: Embedder, notes: Mapping[str, str], folder: Path) -> Retriever:
    """A retriever over one note per title, words and sentences and all."""
    late = LateInteraction.of(embedder)
    assert late is not None
    kept: dict[str, list[bytes]] = {}
    chunks = {t: Chunk(t, f"{t}.md", 0, text, (t,)) for t, text in notes.items()}
    store, keywords = MemoryStore(), KeywordIndex()
    for title, chunk in chunks.items():
        windows = embedding_texts(chunk, embedder.count_tokens, embedder.window)
        ids = [f"{title}-{n}" for n in range(len(windows))]
        vectors, kept[title] = late.embed(windows)
        store.add(ids, vectors, [title] * len(ids), [chunk.path] * len(ids))
        keywords.replace(chunk.path, [(title, tokens(keyword_text(chunk)))])

    def by_id(ids: Sequence[str]) -> dict[str, Chunk]:
        return {i: chunks[i] for i in ids if i in chunks}

    def words_of(ids: Sequence[str]) -> dict[str, list[bytes]]:
        return {i: kept[i] for i in ids if i in kept}

    near = SentenceReader(embedder, folder).nearness
    return Retriever(embedder, store, keywords, by_id, late=(late, words_of), nearness=near)


@pytest.fixture(scope="module")
def embedder(models: Path) -> Embedder:
    return load_embedder("bundled", models, "", device="cpu")


@pytest.fixture(scope="module")
def optics(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    return library(embedder, NOTES, tmp_path_factory.mktemp("sentences"))


@pytest.mark.parametrize("mode", MODES)
def test_what_ten_notes_hold_is_answered(optics: Retriever, mode: Mode) -> None:
    result = optics.search("Чему равен показатель преломления воды?", mode=mode)
    assert result.hits[0].chunk.path == "Преломление.md"
    assert not result.refused
    assert result.confidence >= 0.5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "Кто выиграл чемпионат 1998 года?",
        "Как сварить борщ со свёклой?",
        "What is the capital of Australia?",
        "преломление алмаза",
    ],
)
def test_what_they_do_not_hold_is_refused(optics: Retriever, mode: Mode, question: str) -> None:
    result = optics.search(question, mode=mode)
    assert result.refused
    assert result.confidence < 0.5
    assert mode != "dense" or len(result.hits) == 3


def test_a_near_miss_is_less_sure_than_what_is_there(optics: Retriever) -> None:
    there = optics.search("Чему равен показатель преломления воды?").confidence
    assert optics.search("Чему равен показатель преломления алмаза?").confidence < there


def test_a_question_in_another_language_is_found_by_meaning(optics: Retriever) -> None:
    result = optics.search("What is the refractive index of water?")
    assert result.hits[0].chunk.path == "Преломление.md"
    assert result.confidence > optics.search("What is the capital of Australia?").confidence


def test_a_fact_in_the_last_sentence_of_a_long_passage_is_found_by_meaning_alone(
    embedder: Embedder, tmp_path: Path
) -> None:
    line = "Опыт {}: установку проверили, приборы прогрели, показания записали в журнал."
    filler = " ".join(line.format(n) for n in range(14))
    notes = {**NOTES, "Журнал": f"{filler} Стипендию начисляют двадцать пятого числа каждого месяца."}
    hits = library(embedder, notes, tmp_path).search("Когда студентам платят стипендию?", mode="dense").hits
    assert hits[0].chunk.path == "Журнал.md"


def test_the_point_of_refusal_can_be_moved(optics: Retriever) -> None:
    question = "Кто выиграл чемпионат 1998 года?"
    assert not optics.search(question, threshold=0.0).refused
    result = optics.search("Чему равен показатель преломления воды?", threshold=1.0)
    assert result.refused
    assert result.threshold == 1.0


def test_more_evidence_never_lowers_the_confidence() -> None:
    plain = Evidence(0.5, 0.3, 0.4, 0.2)
    compared = (plain, replace(plain, closeness=0.6), replace(plain, nearness=0.6))
    for base in (*compared, replace(plain, closeness=0.6, nearness=0.6)):
        for mode in MODES:
            for name in ("surprise", "covered", "strength", "coherence", "closeness", "nearness"):
                if getattr(base, name) is not None:
                    better = replace(base, **{name: getattr(base, name) + 0.3})
                    assert confidence(better, mode) >= confidence(base, mode)
            assert confidence(replace(base, lacking=0.6), mode) <= confidence(base, mode)


def test_the_right_subject_alone_is_no_answer() -> None:
    near = Evidence(surprise=1.0, covered=0.3, strength=0.4, coherence=2.0, closeness=0.6)
    assert confidence(near, "hybrid") < 0.5
    assert confidence(replace(near, surprise=6.0, coherence=6.0), "hybrid") == confidence(near, "hybrid")
    assert confidence(replace(near, covered=0.6, strength=0.7, closeness=1.1), "hybrid") > 0.5


def test_without_words_to_compare_the_other_witnesses_judge() -> None:
    seen = Evidence(surprise=2.0, covered=0.6, strength=0.7, coherence=1.0)
    assert confidence(seen, "hybrid") > 0.5
    assert confidence(Evidence(surprise=-1.0), "hybrid") < 0.5


def test_across_scripts_shared_words_are_no_condition_but_tell() -> None:
    found = Evidence(3.0, same_script=False)
    assert confidence(found, "hybrid") > 0.5
    assert confidence(found, "hybrid") > confidence(Evidence(-2.0, same_script=False), "hybrid")
    assert confidence(replace(found, strength=0.5), "hybrid") > confidence(found, "hybrid")


@pytest.mark.parametrize("extreme", [1e9, -1e9])
def test_the_confidence_stays_between_zero_and_one(extreme: float) -> None:
    assert 0.0 <= confidence(Evidence(extreme, 1.0, 9.0), "hybrid") <= 1.0


def test_nothing_is_learnt_from_one_passage_and_words_judge_alone() -> None:
    store = MemoryStore()
    assert learn(store, 0) is None
    store.add(["a"], np.eye(1, 4, dtype=np.float32), ["a"], ["a.md"])
    assert learn(store, 1) is None
    assert evidence(0.9, np.ones(4, np.float32), None) == Evidence()


def test_the_same_cosine_says_more_in_a_library_of_unlike_notes() -> None:
    question = np.array([1, 0, 0, 0], np.float32)
    unlike = Background(np.eye(4, dtype=np.float32)[1:], usual=0.0, spread=0.1, passages=50)
    alike = Background(np.tile(np.array([0.8, 0.6, 0, 0], np.float32), (3, 1)), usual=0.0, spread=0.1, passages=50)
    there, here = evidence(0.8, question, unlike), evidence(0.8, question, alike)
    assert there.surprise > here.surprise


def test_the_best_of_many_must_be_nearer_than_the_best_of_few() -> None:
    question = np.array([1, 0, 0, 0], np.float32)
    few = Background(np.eye(4, dtype=np.float32)[1:], usual=0.0, spread=0.1, passages=10)
    assert evidence(0.5, question, few).surprise > evidence(0.5, question, replace(few, passages=10_000)).surprise


def test_a_name_that_no_passage_holds_lowers_the_confidence(optics: Retriever) -> None:
    plain = optics.evidence("Как зависит показатель преломления от частоты света?")
    named = optics.evidence("Как по формуле Коши зависит показатель преломления от частоты света?")
    assert plain is not None
    assert named is not None
    assert plain.lacking == 0
    assert named.lacking > 0


def test_of_a_few_bare_words_each_that_is_nowhere_is_lacking(optics: Retriever) -> None:
    def lacking(question: str) -> float:
        seen = optics.evidence(question)
        assert seen is not None
        return seen.lacking

    assert lacking("преломление алмаза") > 0.5
    assert lacking("преломление воды") == 0
    assert lacking("приломление воды") == 0
    assert lacking("Как зависит преломление от алмаза?") == 0
    assert lacking("от чего зависит преломление алмаза") == 0


def test_passages_that_speak_of_one_thing_are_coherent_and_scattered_ones_are_not() -> None:
    axes = np.eye(4, dtype=np.float32)
    known = Background(axes, usual=0.0, spread=0.5, passages=50)
    question = axes[0]
    assert coherence(question, [axes[:1], axes[1:2], axes[2:3]], known) == 0.0
    assert coherence(question, [axes[:1], axes[:1], axes[:1]], known) == pytest.approx(2.0)
    # A long passage is seen through the part that is nearest to the question.
    assert coherence(question, [axes[:2], axes[[2, 0]]], known) == pytest.approx(2.0)


def test_one_passage_alone_is_neither() -> None:
    assert coherence(np.ones(4, np.float32), [np.eye(4, dtype=np.float32)], Background(np.eye(4), 0, 1, 4)) == 0.0


class Nearness:
    """Tells the same of every passage, and counts how often it was asked."""

    def __init__(self, near: float) -> None:
        self.near = near
        self.asked: list[str] = []

    def __call__(self, question: str, passages: Sequence[str]) -> list[float]:
        self.asked += passages
        return [self.near] * len(passages)


def with_nearness(retriever: Retriever, nearness: Nearness) -> Retriever:
    changed = retriever.with_reranker(None)
    changed._nearness = nearness
    return changed


SLOWED = "Какая величина показывает, насколько замедляется свет в веществе?"


@pytest.mark.parametrize("mode", ["hybrid", "dense", "keyword-then-dense"])
def test_in_doubt_the_sentences_of_the_best_passage_decide(optics: Retriever, mode: Mode) -> None:
    found = {near: with_nearness(optics, Nearness(near)).search(SLOWED, mode=mode) for near in (-0.5, 2.0)}
    assert found[-0.5].refused
    assert not found[2.0].refused
    assert [h.chunk for h in found[-0.5].hits] == [h.chunk for h in found[2.0].hits]


def test_sentences_are_asked_only_in_doubt_and_of_one_passage(optics: Retriever) -> None:
    nearness = Nearness(1.0)
    retriever = with_nearness(optics, nearness)
    retriever.search("Чему равен показатель преломления воды?")
    retriever.search("Кто выиграл чемпионат 1998 года?")
    assert nearness.asked == []
    hits = retriever.search(SLOWED).hits
    assert nearness.asked == [passage_text(hits[0].chunk)]


def test_keywords_alone_never_ask_the_model(optics: Retriever) -> None:
    nearness = Nearness(1.0)
    retriever = with_nearness(optics, nearness)
    for question in ("вода", "преломление алмаза", "свет и линзы", "Какая величина показывает замедление света?"):
        retriever.search(question, mode="keyword")
    assert nearness.asked == []


def test_for_measuring_all_witnesses_are_heard(optics: Retriever) -> None:
    seen = with_nearness(optics, Nearness(0.25)).evidence("Чему равен показатель преломления воды?")
    assert seen is not None
    assert seen.nearness == 0.25
