"""Embedders of every kind, on tiny models that the tests build, and on a small Ollama on loopback."""

from __future__ import annotations

import math
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import EmbeddingError
from rag.messages import Message
from rag.models.embedding import embedder_available, load_embedder
from rag.models.ollama_embedding import OllamaEmbedder
from rag.models.prompts import prompts_for
from rag.models.sentence_models import SentenceTransformerEmbedder, Turns
from rag.protocols import Embedder
from tests.fake_ollama import FakeOllama, served
from tests.models import save_bert_embedder, save_qwen_embedder

E5_PROMPTS = {"query": "query: ", "document": "passage: "}
TEXTS = ["light", "plants где свет", "a b c d e f", "митоз", "plants где свет", "cell , mitosis . light", ""]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    save_bert_embedder(folder / "tiny-e5", E5_PROMPTS)
    save_bert_embedder(folder / "nobody")
    save_qwen_embedder(folder / "Qwen3-Embedding-tiny")
    return folder


@pytest.fixture(scope="module")
def bert(saved: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(saved / "tiny-e5", "tiny-e5", "1", device="cpu")


@pytest.fixture
def ollama() -> Iterator[FakeOllama]:
    with served(FakeOllama()) as fake:
        yield fake


# --- sentence-transformers


def test_rows_are_unit_vectors_in_the_order_of_the_texts(bert: SentenceTransformerEmbedder) -> None:
    vectors = bert.embed_passages(TEXTS)
    assert (vectors.dtype, vectors.shape) == (np.float32, (7, 16))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert (vectors[1] == vectors[4]).all()
    for text, vector in zip(TEXTS, vectors, strict=True):
        alone = bert.embed_passages([text])[0]
        assert np.abs(alone - vector).max() < 1e-6  # what it is embedded with decides the last bits at most


def test_a_question_asked_again_costs_nothing_and_gives_the_same_bits(
    bert: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bert.embed_question("где митоз ?")
    first_copy = first.copy()
    first[:] = 0  # what a caller does to its vector is its own affair
    monkeypatch.setattr(bert, "_encode", lambda *_: pytest.fail("the model was asked again"))
    assert (bert.embed_question("где митоз ?") == first_copy).all()


def test_no_texts_give_no_rows(bert: SentenceTransformerEmbedder) -> None:
    assert bert.embed_passages([]).shape == (0, 16)
    assert bert.count_tokens([]) == []


def test_progress_counts_every_text_once(bert: SentenceTransformerEmbedder) -> None:
    seen: list[int] = []
    bert.embed_passages(TEXTS, seen.append)
    assert seen == sorted(set(seen))
    assert seen[-1] == len(TEXTS)


def test_questions_and_passages_get_the_prompts_that_the_model_states(saved: Path) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(saved / "tiny-e5"), device="cpu")
    ours = SentenceTransformerEmbedder(saved / "tiny-e5", "x", "1", device="cpu")
    asked, told = plain.encode(["query: light", "passage: light"], prompt="", normalize_embeddings=True)
    assert ours.embed_question("light") == pytest.approx(asked, abs=1e-5)
    assert ours.embed_passages(["light"])[0] == pytest.approx(told, abs=1e-5)
    assert (ours.identity.question_prefix, ours.identity.passage_prefix) == ("query: ", "passage: ")


def test_tokens_are_counted_with_prompt_and_special_tokens(bert: SentenceTransformerEmbedder) -> None:
    assert bert.count_tokens(["light plants", ""]) == [6, 4]  # [CLS] passage : … [SEP]
    assert bert.count_tokens(["light " * 500]) == [504]  # never cut while counting
    bert.embed_question("light")  # the library sets truncation on the shared tokenizer here
    assert bert.count_tokens(["light " * 500]) == [504]


def test_a_passage_over_the_window_is_refused_and_a_question_cut(bert: SentenceTransformerEmbedder) -> None:
    assert bert.window == 64
    with pytest.raises(EmbeddingError, match="104 tokens does not fit the window of 64"):
        bert.embed_passages(["light", "light " * 100])
    assert np.linalg.norm(bert.embed_question("light " * 5000)) == pytest.approx(1)


def test_qwen3_embedding_pools_the_last_token_and_instructs_questions_only(saved: Path) -> None:
    embedder = load_embedder(str(saved / "Qwen3-Embedding-tiny"), saved / "data", "", device="cpu")
    assert embedder.identity.question_prefix.startswith("Instruct: Given a web search query")
    assert embedder.identity.question_prefix.endswith("\nQuery:")
    assert embedder.identity.passage_prefix == ""
    assert embedder.window == 256
    one, other = embedder.embed_passages(["light plants", "mitosis light plants"])
    assert not np.allclose(one, other)
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = saved / "Qwen3-Embedding-tiny"
    tokens = AutoTokenizer.from_pretrained(folder)("light plants", return_tensors="pt")
    with torch.inference_mode():
        last = AutoModel.from_pretrained(folder)(**tokens).last_hidden_state[0, -1].numpy()
    assert one == pytest.approx(last / np.linalg.norm(last), abs=1e-5)


def test_roberta_positions_leave_room_for_the_padding_index(tmp_path: Path) -> None:
    from types import SimpleNamespace

    import torch

    from rag.models.sentence_models import model_window

    table = torch.nn.Module()
    table.position_embeddings = torch.nn.Embedding(514, 4, padding_idx=1)
    model: Any = torch.nn.Sequential(table)
    model.max_seq_length, model.tokenizer = None, SimpleNamespace(model_max_length=10**30)
    assert model_window(model) == 512


@pytest.mark.parametrize(
    ("name", "question", "passage", "source"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: ", "family"),
        ("intfloat/e5-large-v2", "query: ", "passage: ", "family"),
        ("intfloat/multilingual-e5-large-instruct", "Instruct: ", "", "family"),
        ("Qwen/Qwen3-Embedding-0.6B", "Instruct: ", "", "family"),
        ("qwen3-embedding:0.6b", "Instruct: ", "", "family"),
        ("google/embeddinggemma-300m", "task: search result | query: ", "title: none | text: ", "family"),
        ("nomic-embed-text", "search_query: ", "search_document: ", "family"),
        ("BAAI/bge-base-en-v1.5", "Represent this sentence", "", "family"),
        ("BAAI/bge-m3", "", "", "family"),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", "family"),
        ("sentence-transformers/paraphrase-multilingual-mpnet-base-v2", "", "", "family"),
        ("somebody/fine-e5x", "", "", "unknown"),
    ],
)
def test_each_family_gets_its_own_prompts(name: str, question: str, passage: str, source: str) -> None:
    chosen = prompts_for(name, {"query": "", "document": ""})
    assert chosen.question.startswith(question)
    assert bool(chosen.question) == bool(question)
    assert (chosen.passage, chosen.source) == (passage, source)


def test_what_a_model_states_wins_over_its_family() -> None:
    assert prompts_for("e5-small", {"query": "Q: ", "passage": "P: "}).question == "Q: "
    assert prompts_for("x/y", {"query": "Q: ", "document": ""}).source == "model"


def test_a_model_of_an_unknown_family_says_that_no_prompts_are_added(saved: Path) -> None:
    told: list[Message] = []
    embedder = load_embedder(str(saved / "nobody"), saved / "data", "", told.append, device="cpu")
    assert embedder.identity.question_prefix == ""
    assert any("does not say which words it wants" in str(message) for message in told)


def test_the_revision_follows_the_content_and_not_the_name(saved: Path, tmp_path: Path) -> None:
    def revision(folder: Path) -> str:
        return load_embedder(str(folder), tmp_path / "data", "", device="cpu").identity.revision

    shutil.copytree(saved / "tiny-e5", tmp_path / "copy")
    first = revision(saved / "tiny-e5")
    assert revision(tmp_path / "copy") == first
    assert revision(tmp_path / "copy") == first  # from the kept digest
    file = tmp_path / "copy" / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert revision(tmp_path / "copy") != first


def test_loading_and_embedding_need_no_network(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*args: Any) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    embedder = load_embedder(str(saved / "tiny-e5"), saved / "data", "", device="cpu")
    assert embedder.embed_question("light").shape == (16,)


def test_many_threads_get_the_same_vectors_as_one(bert: SentenceTransformerEmbedder) -> None:
    expected, asked = bert.embed_passages(TEXTS), bert.embed_question("light")
    wrong: list[object] = []

    def work() -> None:
        for _ in range(5):
            bert.count_tokens(TEXTS)
            if not (bert.embed_passages(TEXTS) == expected).all() or not (bert.embed_question("light") == asked).all():
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_question_waits_for_one_batch_and_not_for_a_whole_file() -> None:
    turns, order, inside = Turns(), list[str](), threading.Event()

    def batches() -> None:
        for number in range(50):
            with turns.later():
                inside.set()
                order.append(f"batch {number}")
                if number == 0:
                    asking.wait(10)

    def question() -> None:
        asking.set()
        with turns.first():
            order.append("question")

    asking = threading.Event()
    worker, asker = threading.Thread(target=batches), threading.Thread(target=question)
    worker.start()
    inside.wait(10)
    asker.start()
    worker.join()
    asker.join()
    assert order.index("question") < 10


@pytest.mark.parametrize(
    ("name", "words"),
    [("./not-there", "no model folder"), ("somebody/a-model-nobody-has", "Connect to the internet once")],
)
def test_a_model_that_is_not_here_is_told_with_a_remedy(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(EmbeddingError, match=words):
        load_embedder(name, tmp_path, "", device="cpu")
    check = embedder_available(name, tmp_path, "")
    assert not check.ok
    assert check.fix is not None


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EmbeddingError, match="holds no embedding model"):
        load_embedder(str(tmp_path), tmp_path / "data", "", device="cpu")


def test_a_model_that_gives_no_numbers_is_refused(saved: Path) -> None:
    import torch

    embedder = SentenceTransformerEmbedder(saved / "tiny-e5", "x", "1", device="cpu")
    with torch.no_grad():
        next(iter(embedder._model.parameters())).fill_(math.nan)
    with pytest.raises(EmbeddingError, match="unusable vector"):
        embedder.embed_passages(["light"])


def test_without_the_bundled_file_the_original_is_wanted_from_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag.models.embedding.packed_weights", lambda: None)
    with pytest.raises(EmbeddingError, match="intfloat/multilingual-e5-small is not on this machine"):
        load_embedder("bundled", tmp_path, "")
    assert not embedder_available("bundled", tmp_path, "").ok
    save_bert_embedder(tmp_path / "models" / "intfloat--multilingual-e5-small")
    embedder = load_embedder("bundled", tmp_path, "", device="cpu")
    assert (embedder.identity.question_prefix, embedder.identity.passage_prefix) == ("query: ", "passage: ")
    assert embedder_available("bundled", tmp_path, "").ok


# --- Ollama


def test_ollama_gives_unit_vectors_in_order_and_in_batches(ollama: FakeOllama) -> None:
    embedder = load_embedder("ollama:tiny", Path(), ollama.url)
    texts = [f"text {n}" for n in range(40)]
    seen: list[int] = []
    vectors = embedder.embed_passages(texts, seen.append)
    assert vectors.shape == (40, 8)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert (embedder.embed_passages([texts[33]])[0] == vectors[33]).all()
    assert seen == [16, 32, 40]
    assert embedder.embed_passages([]).shape == (0, 8)
    assert all(request["truncate"] is False for request in ollama.requests)


def test_an_ollama_models_identity_is_its_digest_and_its_window_its_context(ollama: FakeOllama) -> None:
    embedder: Embedder = OllamaEmbedder("tiny", ollama.url)
    assert (embedder.identity.name, embedder.identity.revision) == ("ollama:tiny", "d" * 16)
    assert (embedder.identity.dimension, embedder.window) == (8, 128)
    ollama.context = 1_000_000
    assert OllamaEmbedder("tiny", ollama.url).window == 2048
    ollama.context = None
    assert OllamaEmbedder("tiny", ollama.url).window == 512


def test_an_ollama_family_gets_its_prompts(ollama: FakeOllama) -> None:
    ollama.digests["nomic-embed-text:latest"] = "e" * 64
    embedder = OllamaEmbedder("nomic-embed-text", ollama.url)
    embedder.embed_question("light")
    assert ollama.requests[-1]["input"] == ["search_query: light"]
    embedder.embed_passages(["plants"])
    assert ollama.requests[-1]["input"] == ["search_document: plants"]


def test_ollama_tokens_are_estimated_on_the_safe_side(ollama: FakeOllama) -> None:
    embedder = OllamaEmbedder("tiny", ollama.url)
    texts = ["plain words of a note " * 10, "обычные слова конспекта " * 10, "∀x∈ℝ 数学 🌱", "x=12.5%"]
    for text, counted in zip(texts, embedder.count_tokens(texts), strict=True):
        assert len(text) // 4 < counted
    assert embedder.count_tokens(["🌱" * 10])[0] >= 30
    assert embedder.count_tokens([texts[0]])[0] < len(texts[0])


def test_a_text_the_server_finds_too_long_is_halved_and_not_cut(ollama: FakeOllama) -> None:
    embedder = OllamaEmbedder("tiny", ollama.url)
    ollama.limit = 20
    text = "one two three four five " * 8
    vectors = embedder.embed_passages(["short", text])
    assert vectors.shape == (2, 8)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    pieces = [t for r in ollama.requests[-10:] for t in r["input"] if len(t) // 4 <= 20 and t != "short"]
    assert "".join(pieces[-4:]) == text


@pytest.mark.parametrize(
    "bend",
    [
        lambda vs: [[math.nan, *v[1:]] for v in vs],
        lambda vs: [[None, *v[1:]] for v in vs],
        lambda vs: [[0.0] * len(v) for v in vs],
    ],
)
def test_ollama_vectors_of_zeros_or_no_numbers_are_refused(ollama: FakeOllama, bend: Any) -> None:
    embedder = OllamaEmbedder("tiny", ollama.url)
    ollama.bend = bend
    with pytest.raises(EmbeddingError, match=r"unusable vector|unknown way"):
        embedder.embed_passages(["light"])


@pytest.mark.parametrize("bend", [lambda vs: vs[:-1], lambda vs: [v[:4] for v in vs], lambda vs: [vs[0], vs[0][:3]]])
def test_ollama_vectors_of_a_wrong_number_or_length_are_refused(ollama: FakeOllama, bend: Any) -> None:
    embedder = OllamaEmbedder("tiny", ollama.url)
    ollama.bend = bend
    with pytest.raises(EmbeddingError, match="wrong number or length"):
        embedder.embed_passages(["light", "plants"])


def test_a_missing_ollama_model_is_told_with_the_command_that_gets_it(ollama: FakeOllama) -> None:
    with pytest.raises(EmbeddingError, match="`ollama pull absent`"):
        load_embedder("ollama:absent", Path(), ollama.url)
    check = embedder_available("ollama:absent", Path(), ollama.url)
    assert not check.ok
    assert "ollama pull absent" in str(check.fix)
    assert embedder_available("ollama:tiny", Path(), ollama.url).ok


def test_an_ollama_that_does_not_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="Start it"):
        load_embedder("ollama:tiny", tmp_path, "http://127.0.0.1:9")


def test_a_model_pulled_anew_never_mixes_with_the_old_vectors(ollama: FakeOllama) -> None:
    embedder = OllamaEmbedder("tiny", ollama.url)
    ollama.digests["tiny:latest"] = "e" * 64
    with pytest.raises(EmbeddingError, match="has changed on the Ollama server"):
        embedder.embed_question("light")


def test_what_the_server_complains_of_is_told(ollama: FakeOllama) -> None:
    embedder = OllamaEmbedder("tiny", ollama.url)
    ollama.failure = (500, "this model does not support embeddings")
    with pytest.raises(EmbeddingError, match="this model does not support embeddings"):
        embedder.embed_question("light")
