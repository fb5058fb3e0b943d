"""Rerankers on tiny models that the tests build: cross-encoders, a causal yes/no model, sentences by the embedder."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.cross_encoders import CrossEncoderReranker
from rag.errors import RerankingError
from rag.reranking import load_reranker
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
    reranker = load_reranker(str(folder), folder.parent / "data", WordEmbedder(), device="cpu")
    assert isinstance(reranker, CrossEncoderReranker)
    return reranker


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_no_name_is_no_reranker(tmp_path: Path) -> None:
    assert load_reranker("", tmp_path, WordEmbedder()) is None


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
        '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct '
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
        load_reranker(name, tmp_path, WordEmbedder())


def test_a_folder_without_a_reranker_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(RerankingError, match="holds no reranker"):
        load_reranker(str(tmp_path), tmp_path / "data", WordEmbedder())


def test_threads_share_a_reranker(saved: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    reranker = loaded(saved / "one")
    passages = ["light", "митоз клетка", "a b c"]
    expected = reranker.scores("где", passages)

    def judge(_: int) -> Any:
        return reranker.scores("где", passages)

    with ThreadPoolExecutor(6) as pool:
        assert all(scores == expected for scores in pool.map(judge, range(24)))
