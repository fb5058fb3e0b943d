"""The history keeps answers until they are deleted, and exports say where each came from."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ollama_server import Behaviour, OllamaServer

from rag.answering import answer
from rag.answering.export import to_markdown, to_text, to_word
from rag.answering.history import History
from rag.answering.record import RunRecord, changed_sources, record_of
from rag.chat.ollama_chat import OllamaChat
from rag.errors import StoreError
from rag.messages import msg
from rag.types import Chunk, Hit, Meta, SearchResult

TEXT = "Теорему CAP сформулировал Эрик Брюер в 2000 году, см. [7]. ![x](http://evil.example/x.png) <img src=x>"


@pytest.fixture
def record() -> RunRecord:
    hits = (
        Hit(Chunk("id1", "бд/лекция.md", 0, TEXT, ("Лекция 12", "CAP"), 3, 3, date="2024-12-11"), 1.0),
        Hit(Chunk("id2", "other.pdf", 4, "Совсем о другом.", (), 9, 9), 0.5),
    )
    result = SearchResult("q", hits, False, 0.9, 0.5, warnings=(msg("Only {n} files.", n=2),))
    reply = answer(result, "Кто сформулировал теорему CAP?", chat=None, embedder=None).finish(20)
    metas = {"бд/лекция.md": Meta(title="Базы данных", author="А. Н. Лектор")}
    return record_of(
        reply, {"top_k": 3, "embedder": "bundled"}, meta=lambda file: metas.get(file, Meta()),
        when=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
    )  # fmt: skip


def test_a_record_survives_json(record: RunRecord) -> None:
    assert RunRecord.from_json(json.loads(json.dumps(record.to_json()))) == record


def test_the_history_finds_by_words_of_question_and_answer(tmp_path: Path, record: RunRecord) -> None:
    history = History(tmp_path / "data")
    first, second = history.add(record), history.add(record)
    assert [entry.id for entry in history.search()] == [second, first]
    assert [entry.id for entry in history.search("БРЮЕР теорему", limit=1)] == [second]
    assert history.search("100%") == []
    assert history.search("Ёлка") == []
    assert history.get(first) == record


def test_what_is_deleted_is_gone_from_the_file_too(tmp_path: Path, record: RunRecord) -> None:
    history = History(tmp_path)
    entry = history.add(record)
    history.add(record)
    history.delete(entry)
    history.delete(999)
    assert history.get(entry) is None
    assert len(history.search()) == 1
    history.clear()
    assert history.search() == []
    assert "Брюер".encode() not in (tmp_path / "history.sqlite3").read_bytes()


def test_a_broken_history_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "history.sqlite3").write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(StoreError, match="Delete that file"):
        History(tmp_path).search()


def test_an_old_answer_tells_which_sources_changed_or_went(record: RunRecord) -> None:
    assert changed_sources(record, lambda file: {"id1", "id2"}) == []
    assert "has changed" in str(changed_sources(record, lambda file: {"id9"})[0])
    assert "no longer" in str(changed_sources(record, lambda file: None)[0])


def test_markdown_has_numbered_sources_with_author_title_and_page(record: RunRecord) -> None:
    text = to_markdown(record)
    assert text.startswith("# Кто сформулировал теорему CAP?\n")
    assert "\n- [1] А. Н. Лектор, Базы данных, бд/лекция.md, с. 3, раздел: Лекция 12 › CAP, дата: 2024-12-11" in text
    run = json.loads(text.split("```json\n")[1].split("\n```")[0])
    assert run["settings"] == {"top_k": 3, "embedder": "bundled"}
    assert run["passages"][0] == {"n": 1, "file": "бд/лекция.md", "page": 3, "id": "id1"}


def test_markdown_loads_no_picture_and_runs_no_html(record: RunRecord) -> None:
    text = to_markdown(record)
    assert "evil.example" not in text or "\\![x](http://evil.example" in text
    assert "\n<img" not in text
    assert " <img" not in text


def test_sources_keep_the_numbers_of_the_marks_where_only_some_are_cited(record: RunRecord) -> None:
    second = replace(record, cited=(2,))
    assert "- [2] other.pdf" in to_markdown(second)
    assert "[1] А. Н. Лектор" not in to_markdown(second)
    assert to_text(second).endswith("Источники:\n[2] other.pdf, с. 9")


def test_markdown_is_not_broken_up_by_what_a_note_holds(record: RunRecord) -> None:
    odd = replace(
        record, question="Что\nтакое `x`?", text="```python\nx = 1\n[1]: http://evil.example\n", cited=(), marks=()
    )
    text = to_markdown(odd)
    assert text.startswith("# Что такое `x`?\n")
    assert "\n\\[1]: http" in text
    fences = [line for line in text.splitlines() if line.startswith("```")]
    assert fences == ["```python", "```", "```json", "```"]
    assert json.loads(text.split("```json\n")[1].split("\n```")[0])["question"] == "Что\nтакое `x`?"


def test_the_run_record_names_the_model_its_digest_and_its_context() -> None:
    passage = "Теорему CAP сформулировал Эрик Брюер в 2000 году."
    result = SearchResult("q", (Hit(Chunk("1", "cap.md", 0, passage), 1.0),), False, 0.9, 0.5)
    for said, by in ((passage[:-1] + " [1].", "ollama:tiny"), ("Луна сделана из сыра [1].", "quotes")):
        with OllamaServer(Behaviour(lambda *_, said=said: [said])) as server:
            chat = OllamaChat("tiny", server.url)
            kept = record_of(answer(result, "Кто сформулировал теорему CAP?", chat=chat, embedder=None).finish(20), {})
        assert (kept.answered_by, kept.model, kept.revision) == (by, "ollama:tiny", "sha256:tiny:latest")
        run = json.loads(to_markdown(kept).split("```json\n")[1].split("\n```")[0])
        assert (run["model"], run["revision"], run["context"]) == ("ollama:tiny", "sha256:tiny:latest", 4096)


def test_quotes_without_a_model_name_none(record: RunRecord) -> None:
    assert (record.answered_by, record.model, record.revision, record.context) == ("quotes", "", "", 0)


def test_word_opens_and_holds_the_answer_with_bold_marks(record: RunRecord) -> None:
    from docx import Document

    document = Document(io.BytesIO(to_word(record)))
    text = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert "Эрик Брюер в 2000 году, см. [7]." in text
    assert "А. Н. Лектор, Базы данных" in text
    bold = [run.text for paragraph in document.paragraphs for run in paragraph.runs if run.bold]
    assert "[1]" in bold
    assert "[7]" not in bold
    assert not document.inline_shapes


def test_characters_that_word_cannot_hold_are_left_out(record: RunRecord) -> None:
    from docx import Document

    odd = replace(record, text="до\x0bпосле\x00", marks=())
    text = "\n".join(paragraph.text for paragraph in Document(io.BytesIO(to_word(odd))).paragraphs)
    assert "допосле" in text
