"""What works on this machine and what does not, each with its remedy."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from rag.chat.ollama_chat import list_models
from rag.errors import ChatError, StoreError
from rag.messages import msg
from rag.models.embedding import embedder_available
from rag.settings import Paths, Settings
from rag.storage.store import open_client
from rag.types import Check

_SECONDS = 20
_INSTALL = "apt install tesseract-ocr"


def doctor(paths: Paths, settings: Settings) -> list[Check]:
    """Look at folders, model, store, Tesseract, LibreOffice and Ollama. Loads no model."""
    return [
        _folder("notes folder", paths.notes, os.R_OK),
        _folder("data folder", paths.data, os.R_OK | os.W_OK),
        embedder_available(settings.embedder, paths.data, settings.ollama_url),
        _store(paths.data, settings.chroma_url),
        *_tesseract(settings.ocr_languages),
        _libreoffice(),
        _ollama(settings),
    ]


def _folder(name: str, folder: Path, access: int) -> Check:
    where = msg("{folder}", folder=str(folder))
    if not folder.is_dir():
        return Check(name, False, where, msg("There is no such folder. Create it or choose another."))
    if not os.access(folder, access):
        return Check(name, False, where, msg("It may not be used. Change its permissions or choose another folder."))
    return Check(name, True, where)


def _store(data: Path, url: str) -> Check:
    name = "vector store"
    if not url:
        return Check(name, True, msg("Chroma, in {folder}", folder=str(data / "chroma")))
    try:
        open_client(data / "chroma", url).heartbeat()
    except StoreError as error:
        return Check(name, False, error.message, msg("Start the server, or unset KONSPEKT_CHROMA."))
    return Check(name, True, msg("Chroma, at {url}", url=url))


def _tesseract(languages: str) -> list[Check]:
    program = shutil.which("tesseract")
    if program is None:
        fix = msg("Scans stay unread until Tesseract is installed: “{command}”.", command=_INSTALL)
        return [Check("tesseract", False, msg("not installed"), fix, required=False)]
    try:
        listed = subprocess.run(
            [program, "--list-langs"], capture_output=True, text=True, timeout=_SECONDS, check=True
        ).stdout.split("\n")[1:]
    except (OSError, subprocess.SubprocessError) as error:
        fix = msg("Install Tesseract again: “{command}”.", command=_INSTALL)
        return [Check("tesseract", False, msg("does not start: {reason}", reason=str(error)), fix, required=False)]
    have = {line.strip() for line in listed if line.strip()}
    checks = [Check("tesseract", True, msg("{program}", program=program), required=False)]
    for language in languages.split("+"):
        fix = msg("Install it: “{command}”.", command=f"{_INSTALL}-{language}")
        ok = language in have
        detail = msg("installed") if ok else msg("not installed")
        checks.append(Check(f"tesseract language {language}", ok, detail, None if ok else fix, required=False))
    return checks


def _libreoffice() -> Check:
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program:
        return Check("libreoffice", True, msg("{program}", program=program), required=False)
    fix = msg("Only old .doc and .ppt files need it: “{command}”.", command="apt install libreoffice")
    return Check("libreoffice", False, msg("not installed"), fix, required=False)


def _ollama(settings: Settings) -> Check:
    try:
        models = list_models(settings.ollama_url)
    except ChatError as error:
        fix = msg("Answers are exact quotes until then. Install Ollama from ollama.com and start it: “ollama serve”.")
        return Check("ollama", False, error.message, fix, required=False)
    if not models:
        return Check("ollama", False, msg("no chat model"), msg("Get one: “ollama pull qwen3:8b”."), required=False)
    if settings.chat_model and settings.chat_model not in models:
        fix = msg("Get it: “ollama pull {model}”, or choose another one in the settings.", model=settings.chat_model)
        return Check("ollama", False, msg("{model} is not there", model=settings.chat_model), fix, required=False)
    return Check("ollama", True, msg("{models}", models=", ".join(models)), required=False)
