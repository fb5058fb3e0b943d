"""Where a question is looked for: places, tags, languages and dates, each offered only where the library has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui.language import _, day, language, ngettext
from rag.retrieval.filtering import passes
from rag.types import FileStatus, Filters

if TYPE_CHECKING:
    from rag.library import Library

_PLACES, _TAGS, _LANGUAGES, _FROM, _TO = "search-in", "search-tags", "search-languages", "search-from", "search-to"
_TOLD = 2
_WIDTH = 340  # pixels


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen; an empty field offers nothing. Folders end with "/"; `dates` are the first and the last."""

    folders: tuple[str, ...]
    files: tuple[str, ...]
    tags: tuple[str, ...]
    languages: tuple[str, ...]
    dates: tuple[date, date] | None

    @classmethod
    def of(cls, files: Sequence[FileStatus]) -> Choices:
        """Read them from the files that have passages. One language or one date tells no file from another."""
        paths = [file.path for file in files]
        folders = {"/".join(path.split("/")[:n]) + "/" for path in paths for n in range(1, path.count("/") + 1)}
        tags = {tag.casefold(): tag for file in reversed(files) for tag in file.meta.tags}
        languages = {file.meta.language for file in files if file.meta.language}
        told = {file.meta.date for file in files if file.meta.date}
        days = [moment for text in sorted(told) for moment in _bounds(text)] if len(told) > 1 else []
        return cls(
            tuple(sorted(folders)),
            tuple(paths),
            tuple(tags[name] for name in sorted(tags)),
            tuple(sorted(languages)) if len(languages) > 1 else (),
            (min(days), max(days)) if days else None,
        )


def filter_box(library: Library) -> Filters | None:
    """Draw the popover with the filters; return those that are set."""
    files = [file for file in library.files() if file.chunks]
    choices = Choices.of(files)
    chosen = _chosen(choices)
    with (
        st.popover(_label(chosen), icon=":material/filter_alt:", type="tertiary", key="filters"),
        st.container(width=_WIDTH),
    ):
        _widgets(choices)
        if chosen is not None:
            left = sum(passes(file.path, file.meta, chosen) for file in files)
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                st.caption(ngettext("{n} file is searched", "{n} files are searched", left) if left else _nothing())
                st.button(_("Search everywhere"), key="filters-off", type="tertiary", on_click=_forget)
    return chosen


def described(filters: Filters) -> list[str]:
    """Say in a few words each what a search is restricted to."""
    places = [*(f"{folder}/" for folder in filters.folders), *filters.files]
    parts = [ngettext("In {n} place", "In {n} places", len(places)) if len(places) > 1 else places[0]] if places else []
    parts += [f"#{tag}" for tag in filters.tags]
    parts += [language_name(code) for code in filters.languages]
    if filters.date_from and filters.date_to:
        parts.append(f"{day(filters.date_from)} – {day(filters.date_to)}")
    elif filters.date_from:
        parts.append(_("from {date}", date=day(filters.date_from)))
    elif filters.date_to:
        parts.append(_("until {date}", date=day(filters.date_to)))
    return parts


def language_name(code: str) -> str:
    """Return a language's name in the language of the page."""
    from babel import Locale
    from babel.core import UnknownLocaleError

    try:
        return Locale.parse(code).get_display_name(language()) or code
    except (UnknownLocaleError, ValueError):
        return code


def _label(chosen: Filters | None) -> str:
    if chosen is None:
        return _("In all files")
    parts = described(chosen)
    more = f" +{len(parts) - _TOLD}" if len(parts) > _TOLD else ""
    return " · ".join(parts[:_TOLD]) + more


def _nothing() -> str:
    return _("No file fits: nothing will be found")


def _widgets(choices: Choices) -> None:
    st.multiselect(
        _("Search only in these folders and files"),
        [*choices.folders, *choices.files],
        key=_PLACES,
        placeholder=_("All files"),
        select_all=False,
        persist_state="session",
    )
    if choices.tags:
        st.multiselect(
            _("Only with one of these tags"),
            choices.tags,
            key=_TAGS,
            placeholder=_("All tags"),
            format_func=lambda tag: f"#{tag}",
            select_all=False,
            persist_state="session",
        )
    if choices.languages:
        names = {code: language_name(code) for code in choices.languages}
        st.pills(
            _("Only in these languages"),
            choices.languages,
            selection_mode="multi",
            key=_LANGUAGES,
            format_func=names.__getitem__,
            persist_state="session",
        )
    if choices.dates:
        _date_fields(*choices.dates)


def _date_fields(first: date, last: date) -> None:
    style = "DD.MM.YYYY" if language() == "ru" else "YYYY-MM-DD"
    left, right = st.columns(2, gap="small")
    for column, key, label in ((left, _FROM, _("Dated from")), (right, _TO, _("Dated until"))):
        with column:
            st.date_input(label, None, min_value=first, max_value=last, key=key, format=style, persist_state="session")


def _chosen(choices: Choices) -> Filters | None:
    """Read what was chosen; what the library no longer has is forgotten before a widget can stumble over it."""
    places = _kept(_PLACES, (*choices.folders, *choices.files))
    start, end = (_kept_day(key, choices.dates) for key in (_FROM, _TO))
    filters = Filters(
        folders=tuple(place.rstrip("/") for place in places if place in choices.folders),
        files=tuple(place for place in places if place in choices.files),
        tags=tuple(_kept(_TAGS, choices.tags)),
        languages=tuple(_kept(_LANGUAGES, choices.languages)),
        date_from=start.isoformat() if start else None,
        date_to=end.isoformat() if end else None,
    )
    return None if filters == Filters() else filters


def _kept(key: str, offered: Sequence[str]) -> list[str]:
    values = list(st.session_state.get(key) or [])
    kept = [value for value in values if value in offered]
    if kept != values:
        st.session_state[key] = kept
    return kept


def _kept_day(key: str, offered: tuple[date, date] | None) -> date | None:
    value: Any = st.session_state.get(key)
    if not isinstance(value, date):
        return None
    if offered is None or not offered[0] <= value <= offered[1]:
        st.session_state[key] = None
        return None
    return value


def _forget() -> None:
    for key in (_PLACES, _TAGS, _LANGUAGES):
        st.session_state[key] = []
    for key in (_FROM, _TO):
        st.session_state[key] = None


def _bounds(text: str) -> tuple[date, ...]:
    """Return the first and the last day of an ISO day, month or year; none of what is no date."""
    try:
        year, month, moment = ([int(part) for part in text[:10].split("-")] + [0, 0])[:3]
        first = date(year, month or 1, moment or 1)
    except ValueError:
        return ()
    if moment:
        return first, first
    after = date(year + (month in (0, 12)), month % 12 + 1 if month else 1, 1)
    return first, after - timedelta(days=1)
