"""Rerankers on tiny models that the tests build: cross-encoders, a causal yes/no model, sentences by the embedder."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import RerankingError
from rag.models.cross_encoders import CrossEncoderReranker
from rag.models.reranking import load_reranker
from rag.models.sentence_reader import SentenceReader
from rag.models.sentence_reranking import SentenceReranker
from rag.models.sentence_vectors import SentenceVectors
from tests.fakes import WordEmbedder
from tests.models import save_cross_encoder, save_qwen_reranker

CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rerankers")
    save_cross_encoder(folder / "one")
    save_cross_encoder(folder / "two", labels=2)
    save_cross_encoder(folder / "three", labels=3)
    save_qwen_reranker(folder / "Qwen3-Reranker-tiny", CHATML)
    save_qwen_reranker(folder / "chat-model", CHATML)
    return folder


def loaded(folder: Path) -> CrossEncoderReranker:
    reranker = load_reranker(str(folder), folder.parent / "data", reader(folder.parent), device="cpu")
    assert isinstance(reranker, CrossEncoderReranker)
    return reranker


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_no_name_is_no_reranker(tmp_path: Path) -> None:
    assert load_reranker("", tmp_path, reader(tmp_path)) is None


def test_a_cross_encoder_gives_the_probability_of_its_logit(saved: Path) -> None:
    from sentence_transformers import CrossEncoder
    from torch import nn

    pairs = [("где свет ?", "light plants"), ("где свет ?", "митоз")]
    logits = CrossEncoder(str(saved / "one"), device="cpu").predict(pairs, activation_fn=nn.Identity())
    expected = [sigmoid(float(x)) for x in logits]
    assert loaded(saved / "one").scores("где свет ?", [p for _, p in pairs]) == pytest.approx(expected, abs=1e-5)


def test_two_classes_are_read_as_irrelevant_and_relevant(saved: Path) -> None:
    from sentence_transformers import CrossEncoder
    from torch import nn

    pairs = [("где свет ?", "light plants"), ("где свет ?", "митоз")]
    logits = CrossEncoder(str(saved / "two"), device="cpu").predict(pairs, activation_fn=nn.Softmax(dim=1))
    assert loaded(saved / "two").scores("где свет ?", [p for _, p in pairs]) == pytest.approx(logits[:, 1], abs=1e-5)


def test_a_classifier_of_three_classes_is_no_reranker(saved: Path) -> None:
    with pytest.raises(RerankingError, match="3 classes: it is no reranker"):
        loaded(saved / "three")


def test_a_passage_over_the_window_counts_by_its_best_part(saved: Path) -> None:
    reranker = loaded(saved / "one")
    filler, needle = "митоз клетка , " * 30, "light plants chlorophyll"
    long = f"{filler}{needle} {filler}"
    asked, room = "где свет ?", reranker._room - 3
    parts = reranker._windows(long, room)
    assert len(parts) > 3
    assert all(reranker._count(part) <= room for part in parts)
    assert parts[0] == long[: len(parts[0])]
    assert long.rstrip().endswith(parts[-1].rstrip())
    assert any(needle in part for part in parts)
    singly = max(reranker.scores(asked, [part])[0] for part in parts)
    assert reranker.scores(asked, [long])[0] == pytest.approx(singly, abs=1e-6)


def test_a_long_question_leaves_room_for_the_passage(saved: Path) -> None:
    reranker = loaded(saved / "one")
    scores = reranker.scores("свет " * 3000, ["light", "митоз " * 200])
    assert all(0 < score < 1 for score in scores)


def test_the_order_of_the_passages_is_kept_and_none_give_none(saved: Path) -> None:
    reranker = loaded(saved / "one")
    passages = ["light", "a b c d e f g", "митоз клетка", ""]
    together = reranker.scores("где ?", passages)
    assert together == pytest.approx([reranker.scores("где ?", [p])[0] for p in passages], abs=1e-6)
    assert reranker.scores("где ?", []) == []


def test_qwen3_reranker_judges_in_its_own_template_by_yes_and_no(saved: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = saved / "Qwen3-Reranker-tiny"
    prompt = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
        'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n<Instruct>: '
        "Given a web search query, retrieve relevant passages that answer the query\n<Query>: где свет\n"
        "<Document>: light plants<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    )
    reranker = loaded(folder)
    messages = [{"role": "query", "content": "где свет"}, {"role": "document", "content": "light plants"}]
    assert reranker._model.tokenizer.apply_chat_template(messages, tokenize=False) == prompt
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")
    with torch.inference_mode():
        last = AutoModelForCausalLM.from_pretrained(folder)(input_ids=inputs["input_ids"]).logits[0, -1]
    yes, no = (float(last[tokenizer.convert_tokens_to_ids(word)]) for word in ("yes", "no"))
    scores = reranker.scores("где свет", ["light plants", "митоз клетка , митоз клетка", "light"])
    assert scores[0] == pytest.approx(sigmoid(yes - no), abs=1e-5)
    assert len(set(scores)) == 3


def test_a_chat_model_without_a_template_for_judging_is_refused(saved: Path) -> None:
    with pytest.raises(RerankingError, match="without a template for judging"):
        loaded(saved / "chat-model")


def test_a_causal_reranker_that_brings_its_own_template_keeps_it(tmp_path: Path) -> None:
    own = "{% for m in messages %}{{ 'D' if m['role'] == 'document' else 'Q' }}: {{ m['content'] }}\n{% endfor %}"
    reranker = loaded(save_qwen_reranker(tmp_path / "own", own))
    assert reranker._model.tokenizer.chat_template == own
    assert len(set(reranker.scores("где", ["light", "митоз"]))) == 2


def test_scores_that_are_no_numbers_are_refused(saved: Path) -> None:
    import torch

    reranker = loaded(saved / "one")
    with torch.no_grad():
        next(iter(reranker._model.parameters())).fill_(math.nan)
    with pytest.raises(RerankingError, match="no numbers"):
        reranker.scores("где", ["light"])


def test_strong_scores_stay_apart(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = loaded(saved / "one")
    monkeypatch.setattr(reranker._model, "predict", lambda pairs, **_: np.array([18.0, 20.0, -40.0], np.float32))
    first, second, third = reranker.scores("где", ["a", "b", "c"])
    assert third < first < second < 1


@pytest.mark.parametrize(
    ("name", "words"),
    [("./absent", "no model folder"), ("somebody/no-such-reranker", "Connect to the internet once")],
)
def test_a_reranker_that_is_not_here_is_told_with_a_remedy(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(RerankingError, match=words):
        load_reranker(name, tmp_path, reader(tmp_path))


def test_a_folder_without_a_reranker_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(RerankingError, match="holds no reranker"):
        load_reranker(str(tmp_path), tmp_path / "data", reader(tmp_path))


def test_threads_share_a_reranker(saved: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    reranker = loaded(saved / "one")
    passages = ["light", "митоз клетка", "a b c"]
    expected = reranker.scores("где", passages)

    def judge(_: int) -> Any:
        return reranker.scores("где", passages)

    with ThreadPoolExecutor(6) as pool:
        assert all(scores == expected for scores in pool.map(judge, range(24)))


# --- sentences by the embedder

LONG = "Вступление без содержания и смысла для читателя. " * 3
PASSAGES = [
    "Митоз делит клетку на две одинаковые клетки.",
    LONG + "Фотосинтез идёт в хлоропластах растений.",
    "Свет падает на растения в саду у дома.",
]


def reader(data: Path, embedder: WordEmbedder | None = None) -> SentenceReader:
    return SentenceReader(embedder or WordEmbedder(), data / "sentences")


def by_sentences(data: Path, embedder: WordEmbedder | None = None) -> SentenceReranker:
    reranker = load_reranker("sentences", data, reader(data, embedder))
    assert isinstance(reranker, SentenceReranker)
    return reranker


def test_a_passage_counts_by_its_nearest_sentence(tmp_path: Path) -> None:
    reranker = by_sentences(tmp_path)
    scores = reranker.scores("Фотосинтез идёт в хлоропластах?", PASSAGES)
    assert scores.index(max(scores)) == 1
    assert all(0 <= score <= 1 for score in scores)
    alone = reranker.scores("Фотосинтез идёт в хлоропластах?", ["Фотосинтез идёт в хлоропластах растений."])
    assert scores[1] == pytest.approx(alone[0], abs=1e-6)


def test_scores_say_what_the_cosines_of_this_embedder_mean(tmp_path: Path) -> None:
    class Squeezed(WordEmbedder):
        """Like e5: all cosines are high."""

        def _vector(self, text: str) -> Any:
            shared = np.ones(64) * 0.25
            vector = super()._vector(text) + shared
            return np.asarray(vector / np.linalg.norm(vector), np.float32)

    for number, embedder in enumerate((WordEmbedder(), Squeezed("squeezed"))):
        reranker = by_sentences(tmp_path / str(number), embedder)
        passages = ["Площадь круга равна пи эр квадрат.", "Кошка спит дома у печи."]
        good, foreign = reranker.scores("Площадь круга равна", passages)
        assert good > 0.7
        assert foreign < 0.4  # the fake's directions are random: foreign words are not quite at right angles


def test_what_was_prepared_is_not_read_again_even_after_a_restart(tmp_path: Path) -> None:
    seen: list[int] = []
    reader(tmp_path).prepare(PASSAGES, seen.append)
    assert seen == [3]
    again = WordEmbedder()
    sentences = reader(tmp_path, again)
    sentences.scale()
    again.embedded.clear()
    prepared = SentenceReranker(sentences).scores("Где свет?", PASSAGES)
    assert again.embedded == []
    assert by_sentences(tmp_path / "other").scores("Где свет?", PASSAGES) == prepared


def test_the_first_judgement_equals_the_second_to_the_bit(tmp_path: Path) -> None:
    reranker = by_sentences(tmp_path)
    first = reranker.scores("Где свет?", PASSAGES)
    assert [reranker.scores("Где свет?", PASSAGES) for _ in range(5)] == [first] * 5


def test_preparing_can_be_stopped(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    reader(tmp_path, embedder).prepare(PASSAGES, stopped=lambda: True)
    assert embedder.embedded == []


def test_sentences_of_another_model_are_never_used(tmp_path: Path) -> None:
    reader(tmp_path, WordEmbedder("first")).prepare(PASSAGES)
    other = WordEmbedder("second")
    sentences = reader(tmp_path, other)
    sentences.scale()
    other.embedded.clear()
    sentences.nearness("Где свет?", PASSAGES)
    assert len(other.embedded) >= 3


def test_what_is_not_kept_is_forgotten(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    sentences = reader(tmp_path, embedder)
    sentences.scale()
    sentences.prepare(PASSAGES)
    sentences.keep_only(PASSAGES[:1])
    embedder.embedded.clear()
    sentences.nearness("Где свет?", PASSAGES[:1])
    assert embedder.embedded == []
    sentences.nearness("Где свет?", PASSAGES[1:])
    assert embedder.embedded != []


def test_notes_that_cannot_be_forgotten_only_keep_their_room(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sentences = reader(tmp_path)
    sentences.prepare(PASSAGES)
    sentences._kept._base.execute("PRAGMA query_only = 1")
    sentences.keep_only(PASSAGES[:1])
    assert "cannot be deleted" in caplog.text
    assert len(sentences.nearness("Где свет?", PASSAGES)) == 3


def test_a_question_does_not_wait_for_what_is_read_ahead(tmp_path: Path) -> None:
    class Slow(WordEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.started, self.going_on = threading.Event(), threading.Event()

        def embed_passages(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Any:
            if "Митоз" in texts[0]:
                self.started.set()
                assert self.going_on.wait(30)
            return super().embed_passages(texts, progress)

    slow = Slow()
    sentences = reader(tmp_path, slow)
    ahead = threading.Thread(target=sentences.prepare, args=(PASSAGES[:1],))
    ahead.start()
    assert slow.started.wait(30)
    assert len(sentences.nearness("Где свет?", PASSAGES[2:])) == 1
    slow.going_on.set()
    ahead.join()


def test_passages_without_sentences_and_over_the_window_are_judged(tmp_path: Path) -> None:
    reranker = by_sentences(tmp_path, WordEmbedder(window=20))
    odd = ["", "   ", "1", "слово " * 500, "…", "а. б. в. г."]
    scores = reranker.scores("слово", odd)
    assert len(scores) == 6
    assert scores.index(max(scores)) == 3
    assert reranker.scores("слово", []) == []


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "sentences").write_text("a file stands where the folder should be")
    reranker = by_sentences(tmp_path)
    assert len(reranker.scores("Где свет?", PASSAGES)) == 3
    assert "kept in memory only" in caplog.text


def test_a_damaged_file_of_sentences_is_not_trusted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    expected = by_sentences(tmp_path).scores("Где свет?", PASSAGES)
    for file in (tmp_path / "sentences").iterdir():
        file.write_bytes(b"no database at all" * 100)
    assert by_sentences(tmp_path).scores("Где свет?", PASSAGES) == expected
    assert "kept in memory only" in caplog.text


def test_kept_vectors_come_back_as_unit_rows(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    kept = SentenceVectors(tmp_path, embedder.identity)
    vectors = embedder.embed_passages(["раз", "два"])
    kept.put({"text": vectors})
    (back,) = kept.get(["text", "absent"]).values()
    assert back == pytest.approx(vectors, abs=1e-3)
    assert np.linalg.norm(back, axis=1) == pytest.approx(1, abs=1e-6)
    kept.close()
