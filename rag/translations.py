"""The interface's languages: gettext catalogues read from their .po files as they are, nothing to compile."""

from __future__ import annotations

import gettext
from functools import lru_cache
from io import BytesIO
from pathlib import Path

LANGUAGES = {"en": "English", "ru": "Русский"}
DEFAULT_LANGUAGE = "en"
LOCALE_FOLDER = Path(__file__).parent / "locale"


@lru_cache(maxsize=len(LANGUAGES))
def catalogue(language: str) -> gettext.NullTranslations:
    """Return a language's texts; English, in which the templates are written, has none of its own."""
    if language == DEFAULT_LANGUAGE:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (LOCALE_FOLDER / language / "LC_MESSAGES" / "konspekt.po").open("rb") as file:
        texts = read_po(file, locale=language)
    compiled = BytesIO()
    write_mo(compiled, texts)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def best_language(wanted: str | None) -> str:
    """Return the interface language for a browser's or system's locale such as "ru-RU"; English if it is not spoken."""
    tag = (wanted or "").replace("_", "-").split("-")[0].lower()
    return tag if tag in LANGUAGES else DEFAULT_LANGUAGE
