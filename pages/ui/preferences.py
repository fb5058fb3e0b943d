"""The choices of the Settings page. Each is saved as soon as it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui.answers import how_to_add_ollama
from pages.ui.downloads import model_download
from pages.ui.language import _, tell
from pages.ui.notices import Kind, notice, show_error
from rag.errors import KonspektError
from rag.settings import BUNDLED_EMBEDDER, NO_RERANKER, SENTENCE_RERANKER, Settings
from rag.translations import LANGUAGES
from rag.types import MODES, Check, Mode

if TYPE_CHECKING:
    from rag.library import Library


def preferences(library: Library) -> None:
    """Draw all settings."""
    refused = st.session_state.pop("_refused-setting", None)
    if refused:
        notice("wrong", refused)
    with st.container(key="settings", gap="medium"):
        _answers(library)
        _search(library)
        _models(library)
        _files(library)
        _language(library)
        _health(library)


def _section(title: str, key: str) -> Any:
    section = st.container(border=True, key=f"section-{key}", gap="small")
    section.subheader(title, anchor=False)
    return section


def _save(library: Library, name: str, key: str, convert: Callable[[Any], Any] | None = None) -> None:
    value = st.session_state[key]
    try:
        library.change_settings(replace(library.settings, **{name: convert(value) if convert else value}))
    except KonspektError as error:
        st.session_state["_refused-setting"] = tell(error.message)
    else:
        st.toast(_("Saved"), icon=":material/check:")


def _start(key: str, value: Any) -> None:
    """Show what is set, not what a widget of an earlier visit held."""
    if key not in st.session_state:
        st.session_state[key] = value


def _answers(library: Library) -> None:
    settings = library.settings
    with _section(_("Answers"), "answers"):
        _start("set-quotes", settings.quotes_only)
        st.toggle(
            _("Quotes only"),
            key="set-quotes",
            on_change=_save,
            args=(library, "quotes_only", "set-quotes"),
            help=_("Never let a language model write; answer with exact quotes."),
        )
        try:
            models = library.chat_models()
        except KonspektError as error:
            notice("info", tell(error.message))
            how_to_add_ollama()
        else:
            if models:
                _chat_model(library, settings, models)
            if not settings.chat_url:
                model_download(settings.ollama_url)
        _start("set-chat-url", settings.chat_url)
        st.text_input(
            _("Address of another model server"),
            key="set-chat-url",
            placeholder="http://127.0.0.1:1234/v1",
            on_change=_save,
            args=(library, "chat_url", "set-chat-url", str.strip),
            help=_("For LM Studio, llama.cpp and others that speak the OpenAI protocol. Empty: Ollama."),
        )


def _chat_model(library: Library, settings: Settings, models: list[str]) -> None:
    options = ["", *models]
    if settings.chat_model and settings.chat_model not in models:
        options.append(settings.chat_model)
    _start("set-chat", settings.chat_model)
    st.selectbox(
        _("Language model"),
        options,
        key="set-chat",
        on_change=_save,
        args=(library, "chat_model", "set-chat"),
        format_func=lambda name: name or _("First one on the server"),
    )
    if settings.chat_model and settings.chat_model not in models:
        notice("careful", _("The server has no model {model} any more.", model=settings.chat_model))


def _search(library: Library) -> None:
    settings = library.settings
    with _section(_("Search"), "search"):
        sizes = [3, 4, 5] if settings.top_k in (3, 4, 5) else sorted({3, 4, 5, settings.top_k})
        _start("set-k", settings.top_k)
        st.segmented_control(
            _("Passages beside an answer"),
            sizes,
            key="set-k",
            required=True,
            on_change=_save,
            args=(library, "top_k", "set-k"),
        )
        _start("set-refusal", round(settings.refusal * 100))
        st.slider(
            _("Refuse to answer below this confidence, %"),
            0,
            100,
            key="set-refusal",
            step=5,
            on_change=_save,
            args=(library, "refusal", "set-refusal", lambda percent: percent / 100),
            help=_("Higher: fewer wrong answers, more refusals. 0: never refuse."),
        )
        _start("set-mode", settings.mode)
        st.selectbox(
            _("How passages are found"),
            MODES,
            key="set-mode",
            format_func=_mode_name,
            on_change=_save,
            args=(library, "mode", "set-mode"),
        )
        rerankers = [NO_RERANKER, SENTENCE_RERANKER]
        if settings.reranker not in rerankers:
            rerankers.append(settings.reranker)
        _start("set-reranker", settings.reranker)
        st.selectbox(
            _("Second look at the best candidates"),
            rerankers,
            key="set-reranker",
            format_func=_reranker_name,
            accept_new_options=True,
            on_change=_save,
            args=(library, "reranker", "set-reranker"),
            help=_("Slower and more exact. A name from Hugging Face can be typed in; it is downloaded once."),
        )


def _mode_name(mode: Mode) -> str:
    return {
        "hybrid": _("By meaning and by words (best for most)"),
        "dense": _("By meaning only"),
        "keyword": _("By words only"),
        "keyword-then-dense": _("By words, ordered by meaning (rare terms)"),
    }[mode]


def _reranker_name(name: str) -> str:
    return {NO_RERANKER: _("Off"), SENTENCE_RERANKER: _("Sentence by sentence (nothing to download)")}.get(name, name)


def _models(library: Library) -> None:
    settings = library.settings
    with _section(_("Search model"), "models"):
        _start("set-embedder", settings.embedder)
        options = list(dict.fromkeys([BUNDLED_EMBEDDER, settings.embedder, st.session_state["set-embedder"]]))
        chosen = st.selectbox(
            _("Model that understands meaning"),
            options,
            key="set-embedder",
            accept_new_options=True,
            format_func=lambda name: (
                _("multilingual-e5-small (comes with Konspekt)") if name == BUNDLED_EMBEDDER else name
            ),
            help=_("A name from Hugging Face, the path of a folder, or `ollama:NAME`."),
        )
        if chosen and chosen != settings.embedder:
            st.caption(
                _("All files are read again with the new model. Until that is done, the old one goes on answering.")
            )
            st.button(
                _("Use this model"),
                key="use-embedder",
                type="primary",
                on_click=_save,
                args=(library, "embedder", "set-embedder"),
            )


def _files(library: Library) -> None:
    settings = library.settings
    with _section(_("Files"), "files"):
        st.caption(_("Notes folder"))
        st.code(str(library.paths.notes), language=None, wrap_lines=True)
        st.caption(_("Index, settings, models and trash"))
        st.code(str(library.paths.data), language=None, wrap_lines=True)
        st.caption(_("Other folders are chosen at the start with KONSPEKT_NOTES and KONSPEKT_DATA."))
        _start("set-ocr", settings.ocr_languages)
        st.text_input(
            _("Languages of scans"),
            key="set-ocr",
            on_change=_save,
            args=(library, "ocr_languages", "set-ocr", str.strip),
            help=_("Tesseract's codes joined by +, such as rus+eng."),
        )
        _start("set-max", settings.max_file_mb)
        st.number_input(
            _("Largest file, MB"),
            1,
            1024,
            key="set-max",
            on_change=_save,
            args=(library, "max_file_mb", "set-max", int),
        )


def _language(library: Library) -> None:
    with _section(_("Language of the interface"), "language"):
        _start("set-language", library.settings.language)
        st.selectbox(
            _("Language of the interface"),
            ["", *LANGUAGES],
            key="set-language",
            label_visibility="collapsed",
            format_func=lambda code: LANGUAGES.get(code) or _("As in the browser"),
            on_change=_save,
            args=(library, "language", "set-language"),
        )


def _health(library: Library) -> None:
    with _section(_("What works here"), "health"):
        if not st.button(_("Check"), key="check", icon=":material/fact_check:"):
            return
        try:
            checks = library.doctor()
        except KonspektError as error:
            show_error(error)
            return
        for check in checks:
            _check(check)


def _check(check: Check) -> None:
    kind: Kind = "done" if check.ok else "careful" if check.required else "info"
    parts = [f"{_check_name(check.name)}: {tell(check.detail)}"]
    if check.fix and not check.ok:
        parts.append(tell(check.fix))
    notice(kind, "\n".join(parts))


def _check_name(name: str) -> str:
    known = {
        "notes folder": _("Notes folder"),
        "data folder": _("Data folder"),
        "embedding model": _("Search model"),
        "vector store": _("Store of vectors"),
    }
    if name.startswith("tesseract language "):
        return _("Tesseract, language {language}", language=name.rpartition(" ")[2])
    programs = {"tesseract": "Tesseract", "libreoffice": "LibreOffice", "ollama": "Ollama"}
    return known.get(name) or programs.get(name, name)
