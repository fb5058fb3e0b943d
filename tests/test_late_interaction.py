"""Late interaction: what a model makes of words is found again at its words, and near words bring passages up."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from fakes import MemoryStore, WordEmbedder
from models import save_bert_embedder, save_qwen_embedder

from rag.library import Library
from rag.models.embedding import load_embedder
from rag.models.sentence_models import SentenceTransformerEmbedder
from rag.protocols import Embedder
from rag.retrieval import Retriever
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.late_interaction import FAINT, LateInteraction, Weigh
from rag.retrieval.words import Word, tokens, words
from rag.settings import Paths
from rag.types import Chunk, Mode, SearchResult

PROMPTS = {"query": "query: ", "document": "passage: "}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEmbedder:
    folder = save_bert_embedder(tmp_path_factory.mktemp("words") / "tiny", PROMPTS)
    return SentenceTransformerEmbedder(folder, "tiny", "1", device="cpu")


@pytest.fixture(scope="module")
def embedder(models: Path) -> Embedder:
    return load_embedder("bundled", models, "", device="cpu")


@pytest.fixture(scope="module")
def late(embedder: Embedder) -> LateInteraction:
    comparison = LateInteraction.of(embedder)
    assert comparison is not None
    return comparison


def plain(_word: Word) -> float:
    return 1.0


def spans(text: str) -> list[tuple[int, int]]:
    return [(word.start, word.end) for word in words(text)]


# --- the states of words


def test_a_vector_is_the_same_whether_words_are_read_or_not(tiny: SentenceTransformerEmbedder) -> None:
    texts = ["light plants", "где свет ?", "mitosis", "plants light", ""]
    vectors, states = tiny.embed_with_words(texts, [spans(text) for text in texts])
    assert (vectors == tiny.embed_passages(texts)).all()
    assert [len(of_one) for of_one in states] == [2, 2, 1, 2, 0]


def test_states_are_those_of_the_layer_at_three_quarters(tiny: SentenceTransformerEmbedder) -> None:
    import torch

    states = tiny.embed_with_words(["light plants"], [spans("light plants")])[1][0]
    model = tiny._model
    read = model.tokenizer("passage: light plants", return_tensors="pt")
    with torch.no_grad():
        layers = model[0].auto_model(**read, output_hidden_states=True).hidden_states
    tokens_read = model.tokenizer.convert_ids_to_tokens(read["input_ids"][0])
    expected = layers[round(0.75 * 2)][0][[tokens_read.index("light"), tokens_read.index("plants")]].numpy()
    assert states == pytest.approx(expected, abs=1e-5)


def test_a_word_of_several_tokens_is_their_mean_and_a_word_knows_its_neighbours(
    tiny: SentenceTransformerEmbedder,
) -> None:
    text = "abc light"
    whole, letters = (tiny.embed_with_words([text], [of_one])[1][0] for of_one in ([(0, 3)], [(0, 1), (1, 2), (2, 3)]))
    assert whole[0] == pytest.approx(letters.mean(axis=0), abs=1e-5)
    alone = tiny.embed_with_words(["abc"], [[(0, 3)]])[1][0]
    assert np.abs(alone - whole).max() > 1e-3


def test_spaces_around_a_text_move_no_word(tiny: SentenceTransformerEmbedder) -> None:
    plain, spaced = "light plants", "light plants \n"
    one, other = tiny.embed_with_words([plain, spaced], [spans(plain), spans(spaced)])[1]
    assert one == pytest.approx(other, abs=1e-5)


def test_of_a_question_over_the_window_the_words_cut_off_are_zero(tiny: SentenceTransformerEmbedder) -> None:
    text = "light " * 100
    states = tiny.question_words(text, spans(text))
    assert states[0].any()
    assert len(states) == 100
    assert not states[-1].any()


def test_models_of_other_kinds_show_their_words_too(tmp_path: Path) -> None:
    embedder = SentenceTransformerEmbedder(save_qwen_embedder(tmp_path / "qwen"), "qwen", "1", device="cpu")
    comparison = LateInteraction.of(embedder)
    assert comparison is not None
    kept = comparison.embed(["light plants", "mitosis"])[1]
    assert [len(of_one) for of_one in kept] == [2 * 2, 2]  # 16 signs a word


def test_an_embedder_without_words_compares_none() -> None:
    assert LateInteraction.of(WordEmbedder()) is None


# --- closeness


def test_words_of_one_meaning_are_near_in_one_language_and_across_two(late: LateInteraction) -> None:
    texts = {
        "engine": "Тепловой двигатель превращает теплоту в механическую работу.",
        "cell": "Митохондрии вырабатывают энергию для клетки.",
        "star": "Звёзды светят благодаря слиянию ядер водорода.",
    }
    kept = {name: [words_of] for name, words_of in zip(texts, late.embed(list(texts.values()))[1], strict=True)}
    for question, expected in (
        ("Как мотор получает работу из тепла?", "engine"),
        ("What do mitochondria produce?", "cell"),
        ("Как сияет солнце?", "star"),
    ):
        close = late.closeness(question, kept, plain)
        assert max(close, key=lambda name: close[name]) == expected
        assert close[expected] > 0.4


def test_one_window_must_hold_what_is_asked(late: LateInteraction) -> None:
    first, second, both = late.embed(["Тепловой насос.", "Работа цикла.", "Тепловой насос. Работа цикла."])[1]
    close = late.closeness("тепловой насос работа цикла", {"apart": [first, second], "together": [both]}, plain)
    assert close["together"] > close["apart"]


def test_the_weight_of_a_word_counts(late: LateInteraction) -> None:
    kept = {name: [of_one] for name, of_one in zip("ab", late.embed(["Кошка спит.", "Собака лает."])[1], strict=True)}

    def close(rare: str) -> dict[str, float]:
        return late.closeness("кошка собака", kept, lambda word: 1.0 if word.surface == rare else FAINT)

    assert close("кошка")["a"] > close("кошка")["b"]
    assert close("собака")["b"] > close("собака")["a"]


def test_nothing_to_compare_is_close_to_nothing(late: LateInteraction) -> None:
    kept = {"a": [late.embed(["Кошка спит."])[1][0]]}
    assert late.closeness("???", kept, plain) == {}
    assert late.closeness("кошка", {}, plain) == {}
    assert late.closeness("кошка", {"a": []}, plain) == {}


def test_what_is_kept_is_small_and_the_same_every_time(late: LateInteraction, embedder: Embedder) -> None:
    text = "Фотосинтез идёт в хлоропластах."
    once, again = late.embed([text])[1][0], LateInteraction(embedder).embed([text])[1][0]  # type: ignore[arg-type]
    assert len(once) == 4 * embedder.identity.dimension // 8
    assert once == again


# --- in retrieval


class Preferring(LateInteraction):
    """Finds the words of one passage near."""

    def __init__(self, passage_id: str) -> None:
        self._preferred = passage_id

    def closeness(self, question: str, kept: Mapping[str, Sequence[bytes]], weigh: Weigh) -> dict[str, float]:
        return {passage_id: 4.0 * (passage_id == self._preferred) for passage_id in kept}


def found(question: str, mode: Mode, late: LateInteraction | None) -> SearchResult:
    """Search three notes, two of them about engines."""
    embedder, store, keywords = WordEmbedder(), MemoryStore(), KeywordIndex()
    texts = {"a": "двигатель работа", "b": "двигатель насос", "c": "собака"}
    chunks = {name: Chunk(name, f"{name}.md", 0, text) for name, text in texts.items()}
    for name, chunk in chunks.items():
        store.add([name], embedder.embed_passages([chunk.text]), [name], [chunk.path])
        keywords.replace(chunk.path, [(name, tokens(chunk.text))])
    words_of = (late, lambda ids: {i: [b"words"] for i in ids}) if late else None
    retriever = Retriever(embedder, store, keywords, lambda ids: {i: chunks[i] for i in ids}, late=words_of)
    return retriever.search(question, mode=mode)


def test_near_words_weigh_more_the_fewer_words_are_shared() -> None:
    def gain(question: str) -> float:
        scores = [
            {hit.chunk.id: hit.score for hit in found(question, "hybrid", late).hits}
            for late in (None, Preferring("b"))
        ]
        return scores[1]["b"] - scores[0]["b"]

    assert 0 < gain("двигатель насос") < gain("двигатель громкий") < gain("мотор громкий")


def test_near_words_bring_a_passage_up_in_every_mode_that_embeds() -> None:
    modes: tuple[Mode, ...] = ("hybrid", "dense", "keyword-then-dense")
    for mode in modes:
        plain = found("шумный двигатель", mode, None)
        first, second = (hit.chunk.id for hit in plain.hits[:2])
        compared = found("шумный двигатель", mode, Preferring(second))
        assert [hit.chunk.id for hit in compared.hits[:2]] == [second, first], mode
        assert compared.hits[0].score > compared.hits[1].score
    assert found("двигатель", "keyword", Preferring("b")) == found("двигатель", "keyword", None)


def test_an_index_reads_words_while_it_embeds(models: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Термодинамика\n\nТепловой двигатель совершает работу.\n", encoding="utf-8")
    shutil.copytree(models, tmp_path / "data" / "models")
    opened = Library.open(Paths(notes, tmp_path / "data"))
    try:
        opened.sync()
        with opened._shelf.use() as serving:
            (chunk,) = serving.index.catalog.all_chunks()
            (window,) = serving.index.catalog.words_of([chunk.id])[chunk.id]
            # The heading of one word and the sentence of four, 384 signs each.
            assert len(window) == 5 * 384 // 8
            seen = serving.retriever.evidence("Что делает двигатель?")
            assert seen is not None
            assert seen.closeness is not None
            assert seen.closeness > 0.3
    finally:
        opened.close()


def test_an_index_made_before_words_were_kept_answers_without_them(late: LateInteraction) -> None:
    embedder, store, keywords = WordEmbedder(), MemoryStore(), KeywordIndex()
    chunk = Chunk("a", "a.md", 0, "двигатель работа")
    store.add(["a"], embedder.embed_passages([chunk.text]), ["a"], [chunk.path])
    keywords.replace(chunk.path, [("a", tokens(chunk.text))])
    retriever, plain = (
        Retriever(embedder, store, keywords, lambda ids: dict.fromkeys(ids, chunk), late=words_of)
        for words_of in ((late, lambda ids: {}), None)
    )
    assert retriever.search("двигатель") == plain.search("двигатель")
    assert retriever.search("двигатель").hits[0].closeness is None
