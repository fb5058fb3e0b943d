"""Old Word and PowerPoint files (.doc, .ppt), turned into new ones by LibreOffice where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from rag.errors import ParsingError
from rag.messages import msg

SECONDS = 180
_PLACES = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    r"C:\Program Files\LibreOffice\program\soffice.exe",
    r"C:\Program Files (x86)\LibreOffice\program\soffice.exe",
)


def find_libreoffice() -> str | None:
    """The path of LibreOffice's program, `None` where it is not installed."""
    return (
        shutil.which("soffice") or shutil.which("libreoffice") or next((p for p in _PLACES if Path(p).exists()), None)
    )


def convert_old(path: Path, family: str, folder: Path) -> Path:
    """Convert to .docx or .pptx in `folder` and return the new file. Raises `ParsingError` without LibreOffice."""
    program = find_libreoffice()
    ending = "docx" if family == "old word" else "pptx"
    if not program:
        raise ParsingError(
            msg(
                "Old {old} files are read through LibreOffice, which is not installed. Install it from "
                "libreoffice.org, "
                "or save the file as .{new}.",
                old=path.suffix.lower() or ".doc",
                new=ending,
            )
        )
    command = [program, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--norestore",
               "--convert-to", ending, "--outdir", str(folder), str(path)]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    except (subprocess.SubprocessError, OSError) as error:
        raise _not_converted(path) from error
    made = folder / f"{path.stem}.{ending}"
    if not made.exists():
        raise _not_converted(path)
    return made


def _not_converted(path: Path) -> ParsingError:
    return ParsingError(
        msg("LibreOffice could not convert {name}. Open it in its own program and save it anew.", name=path.name)
    )
