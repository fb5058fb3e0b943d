"""Tiny models of the kinds that Konspekt loads, with random but seeded weights, saved as their libraries save them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_LATIN, _CYRILLIC = "abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюя"
_TEXT = (
    "query passage : , . ? light plants chlorophyll mitosis cell свет растения хлорофилл митоз клетка где идёт "
    "фотосинтез yes no system user assistant judge document instruct think"
)
WORDS = [*_TEXT.split(" "), *_LATIN, *_CYRILLIC]


def word_tokenizer(folder: Path, specials: dict[str, str], window: int, chat_template: str = "") -> Any:
    """Save and return a tokenizer of whole words, single letters for the others. `specials` maps roles to tokens;
    "cls" and "sep" are put around texts, "eos" alone after them."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    names = list(dict.fromkeys(specials.values()))
    pieces = [*names, *WORDS, *(f"##{w}" for w in WORDS if len(w) == 1)]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    inner = Tokenizer(models.WordPiece(vocabulary, unk_token=specials["unk"]))
    inner.normalizer = normalizers.Lowercase()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if "cls" in specials:
        cls, sep = specials["cls"], specials["sep"]
        inner.post_processor = processors.TemplateProcessing(
            single=[cls, "$A", sep], pair=[cls, "$A", sep, "$B:1", f"{sep}:1"],
            special_tokens=[(cls, vocabulary[cls]), (sep, vocabulary[sep])],
        )  # fmt: skip
    elif "eos" in specials:
        eos = specials["eos"]
        inner.post_processor = processors.TemplateProcessing(
            single=["$A", eos], special_tokens=[(eos, vocabulary[eos])]
        )
    roles = {f"{role}_token": token for role, token in specials.items()}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, model_max_length=window, **roles)
    if chat_template:
        tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)
    return tokenizer


_BERT_SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_QWEN_SPECIALS = {"pad": "<|endoftext|>", "unk": "<unk>", "eos": "<|im_end|>"}


def bert_config(size: int, window: int, **more: Any) -> Any:
    """Return a BERT of two layers and 16 dimensions."""
    from transformers import BertConfig

    return BertConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=window, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        initializer_range=0.5, **more,
    )  # fmt: skip


def qwen_config(size: int, **more: Any) -> Any:
    """Return a Qwen3 of two layers and 16 dimensions."""
    from transformers import Qwen3Config

    return Qwen3Config(
        vocab_size=size, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1,
        head_dim=8, intermediate_size=32, max_position_embeddings=256, initializer_range=0.5,
        tie_word_embeddings=True, **more,
    )  # fmt: skip


def save_bert_embedder(folder: Path, prompts: dict[str, str] | None = None, window: int = 64) -> Path:
    """Save a BERT with mean pooling as sentence-transformers does, prompts in its settings where given."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertModel

    base = folder.with_name(folder.name + "-base")
    torch.manual_seed(7)
    tokenizer = word_tokenizer(base, _BERT_SPECIALS, window)
    BertModel(bert_config(len(tokenizer), window)).save_pretrained(base)
    modules = [Transformer(str(base), max_seq_length=window), Pooling(16, "mean")]
    model = SentenceTransformer(modules=modules, prompts=prompts, device="cpu")
    model.save_pretrained(str(folder), create_model_card=False)
    return folder


def save_qwen_embedder(folder: Path, prompts: dict[str, str] | None = None) -> Path:
    """Save a Qwen3 with last-token pooling, as Qwen3-Embedding is made."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from transformers import Qwen3Model

    base = folder.with_name(folder.name + "-base")
    torch.manual_seed(7)
    tokenizer = word_tokenizer(base, _QWEN_SPECIALS, 256)
    Qwen3Model(qwen_config(len(tokenizer))).save_pretrained(base)
    transformer = Transformer(str(base), max_seq_length=256)
    transformer.tokenizer.padding_side = "left"
    modules = [transformer, Pooling(16, "lasttoken"), Normalize()]
    model = SentenceTransformer(modules=modules, prompts=prompts, device="cpu")
    model.save_pretrained(str(folder), create_model_card=False)
    return folder


def save_cross_encoder(folder: Path, labels: int = 1, window: int = 48) -> Path:
    """Save a BERT that scores pairs, as CrossEncoders are kept on the hub."""
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(7)
    tokenizer = word_tokenizer(folder, _BERT_SPECIALS, window)
    BertForSequenceClassification(bert_config(len(tokenizer), window, num_labels=labels)).save_pretrained(folder)
    return folder


def save_qwen_reranker(folder: Path, chat_template: str) -> Path:
    """Save a Qwen3 causal language model whose tokenizer knows "yes" and "no", with a chat template."""
    import torch
    from transformers import Qwen3ForCausalLM

    torch.manual_seed(7)
    tokenizer = word_tokenizer(folder, _QWEN_SPECIALS, 256, chat_template)
    Qwen3ForCausalLM(qwen_config(len(tokenizer))).save_pretrained(folder)
    return folder
