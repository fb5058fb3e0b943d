"""From a file to a `ParsedDocument`: blocks in reading order, each with its page and heading path."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path, PurePath

from rag.errors import KonspektError, ParsingError
from rag.messages import msg
from rag.parsing.draft import Draft
from rag.parsing.metadata import complete
from rag.parsing.settings import ParseSettings
from rag.parsing.sniffing import SUPPORTED, Family, family_of
from rag.types import ParsedDocument

__all__ = ["PARSER_VERSION", "SUPPORTED", "ParseSettings", "Progress", "parse", "supported"]

PARSER_VERSION = "3"  # raised whenever a file would come out differently, so that it is read again
Progress = Callable[[int, int], None]
log = logging.getLogger(__name__)
_READERS: dict[Family, str] = {
    "markdown": "markdown.parse_markdown", "text": "text.parse_text", "word": "word.parse_word", "odt": "odt.parse_odt",
    "rtf": "rtf.parse_rtf", "slides": "slides.parse_slides", "web": "web.parse_web", "epub": "epub.parse_epub",
    "notebook": "notebook.parse_notebook", "email": "email.parse_email", "csv": "data.parse_csv",
    "sheet": "data.parse_sheet",
}  # fmt: skip


def supported(name: str) -> bool:
    """Whether a file of this name is one that Konspekt reads. Hidden files and Office's lock files are not."""
    path = PurePath(name)
    return path.suffix.lower() in SUPPORTED and not path.name.startswith((".", "~$"))


def parse(path: Path, settings: ParseSettings, progress: Progress | None = None) -> ParsedDocument:
    """Read a file of any supported format. `progress` gets (pages done, pages) where a format has pages.

    A file without readable text gives a document without blocks. Raises `ParsingError`, and `PasswordNeeded`
    where a password is missing. Run it through `worker.ParserProcess` where a crash or a hang must not spread.
    """
    try:
        size = path.stat().st_size
        if not size:
            raise ParsingError(msg("This file is empty."))
        if size > settings.max_file_mb * 1_000_000:
            raise ParsingError(
                msg(
                    "This file has {size} MB; the limit is {limit} MB. Split it, or raise the limit in the settings.",
                    size=round(size / 1e6),
                    limit=settings.max_file_mb,
                )
            )
        return complete(_read(family_of(path), path, settings, progress), path)
    except KonspektError:
        raise
    except OSError as error:
        # Readers also raise it, without a file's name, for offsets in a damaged file that point nowhere.
        raise (_unopened(error) if error.filename else _damaged(path, error)) from error
    except MemoryError as error:
        raise ParsingError(msg("This file is too large for this computer's memory. Split it.")) from error
    except Exception as error:
        # Readers of damaged files raise whatever their depths raise; none of it may end the work on other files.
        raise _damaged(path, error) from error


def _unopened(error: OSError) -> ParsingError:
    return ParsingError(msg("This file cannot be opened: {reason}.", reason=error.strerror or str(error)))


def _damaged(path: Path, error: Exception) -> ParsingError:
    log.warning("cannot read %s", path.name, exc_info=error)
    return ParsingError(
        msg(
            "This file cannot be read; it may be damaged ({reason}). Open it in its own program and save it anew.",
            reason=type(error).__name__,
        )
    )


def _read(family: Family, path: Path, settings: ParseSettings, progress: Progress | None) -> ParsedDocument:
    if family == "pdf":
        from rag.parsing.pdf import parse_pdf

        return parse_pdf(path, settings, progress)
    if family in ("old word", "old slides"):
        from rag.parsing.legacy import convert_old

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            new = convert_old(path, family, Path(folder))
            return _reader("word" if family == "old word" else "slides")(new).finish()
    return _reader(family)(path).finish()


def _reader(family: Family) -> Callable[[Path], Draft]:
    """Import a reader only when a file needs it: some take seconds to load."""
    module, name = _READERS[family].split(".")
    reader: Callable[[Path], Draft] = getattr(import_module(f"rag.parsing.{module}"), name)
    return reader
