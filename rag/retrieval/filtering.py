"""Which files a search is restricted to, told by a file's path and by what it says of itself."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from rag.types import Filters, Meta


def passes(path: str, meta: Meta, filters: Filters) -> bool:
    """Tell whether a file passes: each kind of filter that is set must let it through, by any one of its values.
    Folders and files are one kind, places.

    A folder holds its folders, a tag its nested tags ("physics" is also "physics/optics"). Dates are compared as
    far as both are told: a file of "2024" passes "from 2024-05", one of "2024-05-31" passes "to 2024-05".
    """
    return all(
        (
            not (filters.folders or filters.files) or _placed(path, filters),
            not filters.tags or _tagged(meta.tags, filters.tags),
            not filters.languages or meta.language.casefold() in {name.casefold() for name in filters.languages},
            not filters.date_from or _not_before(meta.date, filters.date_from),
            not filters.date_to or _not_before(filters.date_to, meta.date),
        )
    )


def _placed(path: str, filters: Filters) -> bool:
    return path in {_plain(file) for file in filters.files} or any(_inside(path, f) for f in filters.folders)


def _inside(path: str, folder: str) -> bool:
    name = _plain(folder).strip("/")
    return not name or path.startswith(f"{name}/")


def _tagged(own: Iterable[str], wanted: Iterable[str]) -> bool:
    names = [tag.casefold() for tag in own]
    asked = [_plain(tag).lstrip("#").strip("/").casefold() for tag in wanted]
    return any(name == tag or name.startswith(f"{tag}/") for name in names for tag in asked)


def _not_before(later: str | None, earlier: str | None) -> bool:
    """Tell whether two ISO dates, of a day, a month or a year, stand in this order; an unknown one stands in none."""
    if not later or not earlier:
        return False
    known = min(len(later), len(earlier))
    return later[:known] >= earlier[:known]


def _plain(name: str) -> str:
    return unicodedata.normalize("NFC", name)
