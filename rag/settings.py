"""Settings: the one module that reads the environment and `settings.toml`."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from rag.errors import SettingsError
from rag.messages import msg
from rag.types import MODES, Mode

BUNDLED_EMBEDDER = "bundled"
NO_RERANKER = ""
SENTENCE_RERANKER = "sentences"


@dataclass(frozen=True, slots=True)
class Paths:
    """Where things are: `notes` is the watched folder, `data` holds the index, settings and models."""

    notes: Path
    data: Path

    @classmethod
    def from_environment(cls, notes: Path | str | None = None, data: Path | str | None = None) -> Self:
        """Arguments win over `KONSPEKT_NOTES` / `KONSPEKT_DATA`, which win over the defaults."""
        return cls(
            Path(notes or os.environ.get("KONSPEKT_NOTES") or "notes").expanduser().absolute(),
            Path(data or os.environ.get("KONSPEKT_DATA") or ".konspekt").expanduser().absolute(),
        )

    @property
    def notes_is_default(self) -> bool:
        """Whether nobody chose the notes folder: only then is it made where it is missing."""
        return self.notes == Path("notes").absolute()


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user can choose. The last two come from the environment and are never written.

    `embedder` and `reranker` name a model: "bundled" or "sentences" for those that need no download,
    "ollama:NAME" for one served by Ollama, else a Hugging Face name or a folder.
    `refusal` is the confidence under which Konspekt refuses (0 = never). `parse_seconds` is the longest time that
    parsing may take without finishing a page.
    """

    embedder: str = BUNDLED_EMBEDDER
    reranker: str = NO_RERANKER
    chat_model: str = ""
    chat_url: str = ""
    quotes_only: bool = False
    mode: Mode = "hybrid"
    top_k: int = 3
    refusal: float = 0.5
    language: str = ""
    ocr_languages: str = "rus+eng"
    max_file_mb: int = 200
    parse_seconds: int = 120
    keep_alive: str = "5m"
    ollama_url: str = field(default="http://127.0.0.1:11434", metadata={"environment": True})
    chroma_url: str = field(default="", metadata={"environment": True})

    @classmethod
    def load(cls, data: Path) -> Self:
        """Read `settings.toml` in the data folder, then the environment. Unknown keys are an error."""
        file = data / "settings.toml"
        try:
            stored = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        except (OSError, ValueError) as error:
            raise SettingsError(
                msg("Cannot read {file}: {reason}. Mend or delete that file.", file=str(file), reason=str(error))
            ) from error
        settings = cls(**_checked(stored, file))
        ollama = os.environ.get("KONSPEKT_OLLAMA") or settings.ollama_url
        chroma = os.environ.get("KONSPEKT_CHROMA") or settings.chroma_url
        return replace(settings, ollama_url=ollama, chroma_url=chroma)

    def save(self, data: Path) -> None:
        """Write `settings.toml`, whole or not at all."""
        import tomli_w

        values = {f.name: v for f, v in zip(fields(self), asdict(self).values(), strict=True) if not f.metadata}
        _checked(values, data / "settings.toml")
        try:
            data.mkdir(parents=True, exist_ok=True)
            draft = data / "settings.toml.new"
            draft.write_text(tomli_w.dumps(values), encoding="utf-8")
            draft.replace(data / "settings.toml")
        except OSError as error:
            raise SettingsError(
                msg(
                    "Cannot write to the data folder {folder}: {reason}.", folder=str(data), reason=error.strerror or ""
                )
            ) from error


def _checked(values: Mapping[str, Any], file: Path) -> dict[str, Any]:
    defaults = {f.name: f.default for f in fields(Settings) if not f.metadata}
    for name, value in values.items():
        kind = type(defaults.get(name))
        right = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if name not in defaults or not right or not _in_range(name, value):
            raise SettingsError(
                msg(
                    "{file}: the setting “{name}” cannot be {value}. Mend or delete that line.",
                    file=str(file),
                    name=name,
                    value=repr(value),
                )
            )
    return dict(values)


def _in_range(name: str, value: Any) -> bool:
    ranges = {"top_k": (1, 20), "refusal": (0, 1), "max_file_mb": (1, 100_000), "parse_seconds": (1, 86_400)}
    low, high = ranges.get(name, (value, value))
    return bool(low <= value <= high) and (name != "mode" or value in MODES)
