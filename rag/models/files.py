"""Model folders on disk: where a model by name is, how it gets there, and the digest of what it holds."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rag.errors import EmbeddingError, KonspektError
from rag.messages import Message, msg
from rag.models.bundled_model import file_digest

_WEIGHTS = (".safetensors", ".bin", ".pt", ".npy")
_CONTENT = (*_WEIGHTS, ".json", ".txt", ".model", ".jinja", ".py")
_UNNEEDED = ("*.onnx", "*.onnx_data", "onnx/*", "openvino/*", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.mlmodel",
             "*.png", "*.jpg", "*.pdf", "*.tflite", "coreml/*", "flax_model*", "tf_model*", ".git*")  # fmt: skip


def model_folder(
    name: str,
    models: Path,
    progress: Callable[[Message], None] | None = None,
    error_class: type[KonspektError] = EmbeddingError,
    default_owner: str = "sentence-transformers",
) -> Path:
    """Return the folder of a model: `name` itself if it is a folder, else the Hugging Face model of that
    name (of `default_owner` if it names none), looked for in `models`, then in the user's Hugging Face
    cache, and downloaded into `models` at last.

    Raises `error_class` if it is neither here nor to be had.
    """
    given = Path(name).expanduser()
    if given.is_dir():
        return given.absolute()
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) or name.startswith((".", "/")):
        raise error_class(msg("There is no model folder {name}.", name=name))
    if "/" not in name:
        name = f"{default_owner}/{name}"
    ours = models / name.replace("/", "--")
    return found if (found := local_folder(name, models)) else _download(name, ours, progress, error_class)


def local_folder(name: str, models: Path) -> Path | None:
    """Return the folder of a model that is already on this machine, whole, or None. Never asks the network."""
    given = Path(name).expanduser()
    if given.is_dir():
        return given.absolute()
    name = name if "/" in name else f"sentence-transformers/{name}"
    ours = models / name.replace("/", "--")
    return ours if ours.is_dir() else _in_hub_cache(name)


def content_digest(folder: Path, models: Path) -> str:
    """Return a digest of the model files in `folder`: 16 hexadecimal digits of a SHA-256 over names and bytes.

    It is kept in `models` and found again by the files' sizes and times, as hashing gigabytes takes seconds.
    """
    files = sorted(p for p in folder.rglob("*") if p.suffix in _CONTENT and p.is_file() and ".cache" not in p.parts)
    names = [p.relative_to(folder).as_posix() for p in files]
    stats = [p.stat() for p in files]
    state = hashlib.sha256(
        json.dumps([[n, s.st_size, s.st_mtime_ns] for n, s in zip(names, stats, strict=True)]).encode()
    ).hexdigest()
    kept_file = models / "digests.json"
    kept: dict[str, list[str]] = {}
    with suppress(OSError, ValueError):  # a lost or torn cache only costs time
        kept = json.loads(kept_file.read_text(encoding="utf-8"))
    if (known := kept.get(str(folder))) and known[0] == state:
        return known[1]
    total = hashlib.sha256()
    for name, path in zip(names, files, strict=True):
        total.update(f"{name}\0{file_digest(path)}\n".encode())
    digest = total.hexdigest()[:16]
    with suppress(OSError):  # a data folder that cannot be written is told elsewhere
        models.mkdir(parents=True, exist_ok=True)
        draft = models / f"digests.json.{digest}.new"
        draft.write_text(json.dumps(kept | {str(folder): [state, digest]}, indent=1), encoding="utf-8")
        draft.replace(kept_file)
    return digest


def _in_hub_cache(name: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HfHubHTTPError, OSError, ValueError):
        return None  # not there; the caller goes on to download it
    index = folder / "model.safetensors.index.json"
    if index.exists():
        parts = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        return folder if all((folder / part).exists() for part in parts) else None
    has_weights = any(p.suffix in _WEIGHTS and p.exists() for p in folder.rglob("*"))
    return folder if has_weights and (folder / "config.json").exists() else None


def _download(
    name: str, target: Path, progress: Callable[[Message], None] | None, error_class: type[KonspektError]
) -> Path:
    import httpx
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, OfflineModeIsEnabled, RepositoryNotFoundError

    draft = target.with_name(target.name + ".partial")  # kept when it breaks off: the next try goes on from there
    try:
        siblings = [s.rfilename for s in HfApi().model_info(name).siblings or []]
        double = ["pytorch_model*.bin"] if any(s.endswith(".safetensors") for s in siblings) else []
        if progress:
            progress(msg("Downloading the model {model}…", model=name))
        snapshot_download(
            name, local_dir=draft, ignore_patterns=[*_UNNEEDED, *double], tqdm_class=_progress_bar(name, progress)
        )
        draft.rename(target)
    except GatedRepoError as error:
        raise error_class(
            msg("The model {model} asks for a licence to be accepted on huggingface.co first. "
                "Accept it there, download the model and give its folder.", model=name)
        ) from error  # fmt: skip
    except RepositoryNotFoundError as error:
        raise error_class(msg("huggingface.co has no model named {model}. Check the name.", model=name)) from error
    except (OSError, HfHubHTTPError, OfflineModeIsEnabled, httpx.HTTPError, httpx.InvalidURL) as error:
        raise error_class(
            msg("The model {model} is not on this machine and cannot be downloaded now ({reason}). Connect to the "
                "internet once, or give the folder of a downloaded model.", model=name, reason=type(error).__name__)
        ) from error  # fmt: skip
    return target


def _progress_bar(name: str, progress: Callable[[Message], None] | None) -> Any:
    """Return a tqdm class that tells `progress` the megabytes instead of drawing."""
    from tqdm.auto import tqdm  # type: ignore[import-untyped]

    class Told(tqdm):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "disable": False, "file": _Nowhere(), "mininterval": 0.5})

        def display(self, *args: Any, **kwargs: Any) -> None:
            if progress and self.unit == "B" and self.total:
                progress(msg("Downloading the model {model}: {done} of {total} MB", model=name,
                             done=round(self.n / 1e6), total=round(self.total / 1e6)))  # fmt: skip

    return Told


class _Nowhere:
    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""
