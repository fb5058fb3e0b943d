"""The pages, run from app.py over a library in memory."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import tomllib
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import opened
from pages.ui.downloads import downloads
from rag.answering.reply import AnswerSentence, Mark, Reply
from rag.errors import QuestionError, SettingsError, StoreError
from rag.messages import msg
from rag.translations import catalogue
from rag.types import FileProgress, Hit, IndexStatus, Meta, Report
from tests.fake_library import FakeLibrary
from tests.ollama_server import Behaviour, OllamaServer

ROOT = Path(__file__).parent.parent
OPTICS = "Преломление света описал Снеллиус.\n\nДифракция огибает препятствия, и свет заходит в тень."


@pytest.fixture
def optics(library: FakeLibrary) -> FakeLibrary:
    library.note("physics/optics.pdf", OPTICS, ("Оптика", "Волны"), pages=2)
    return library


def start(locale: str = "en-US") -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    at.context = {"locale": locale}
    return checked(at.run())


def checked(at: AppTest) -> AppTest:
    assert not at.exception, at.exception[0].stack_trace if at.exception else ""
    return at


def visit(at: AppTest, page: str) -> AppTest:
    return checked(at.switch_page(page).run())


def ask(at: AppTest, question: str) -> AppTest:
    at.chat_input[0].set_value(question).run()
    return settle(at)


def settle(at: AppTest) -> AppTest:
    """Wait until every answer is complete, then draw the page."""
    for turn in at.session_state["_talk"].turns:
        assert turn.finished.wait(20), "the answer does not end"
    return checked(at.run())


def html(at: AppTest) -> str:
    return "\n".join(element.proto.body for element in at.html if "<style>" not in element.proto.body)


def seen(at: AppTest) -> str:
    """Everything a person reads on the page, without markup."""
    hidden = r"<script>.*?</script>|<span class=\"k-icon\".*?</span>|<[^>]+>"
    parts = [unescape(re.sub(hidden, " ", html(at), flags=re.DOTALL))]
    for kind in ("caption", "markdown", "header", "subheader", "text", "code"):
        parts += [element.value for element in getattr(at, kind)]
    for kind in ("button", "toggle", "selectbox", "slider", "text_input", "number_input", "chat_input", "page_link"):
        parts += [getattr(element, "label", "") or getattr(element, "placeholder", "") for element in getattr(at, kind)]
    return re.sub(r"\s+", " ", re.sub(r"\\([^\w\s])", r"\1", "\n".join(parts)))


def press(at: AppTest, label: str) -> AppTest:
    found = [button for button in at.button if button.label == label]
    assert found, f"no button {label!r} among {[button.label for button in at.button]}"
    return checked(found[0].click().run())


# Ask


def test_without_notes_the_first_step_is_explained_with_a_place_to_drop_files(library: FakeLibrary) -> None:
    at = start()
    assert "Ask your own notes" in seen(at)
    assert len(at.file_uploader) == 2
    assert not at.chat_input


def test_a_file_dropped_at_the_first_step_is_taken_in_and_the_question_box_appears(library: FakeLibrary) -> None:
    at = start()
    at.file_uploader[0].upload("note.md", b"Mitochondria make energy.", "text/markdown").run()
    checked(at.run())
    assert [file.path for file in library.files()] == ["note.md"]
    assert at.chat_input


def test_an_answer_stands_beside_passages_with_file_heading_and_page(optics: FakeLibrary) -> None:
    at = ask(start(), "Кто описал преломление света?")
    page = seen(at)
    assert "physics/ optics.pdf › Оптика › Волны › p. 1" in page
    assert "Преломление света описал Снеллиус. 1" in page
    assert 'href="#p-' in html(at)


def test_words_that_match_are_marked_in_any_inflection(optics: FakeLibrary) -> None:
    at = ask(start(), "Что такое преломления?")
    assert "<mark>Преломление</mark>" in html(at)


def test_text_from_files_is_shown_to_the_letter(library: FakeLibrary) -> None:
    text = "Price $5 and $2 **bold** <b>tag</b> <script>alert(1)</script> [link](http://evil.example) ![pic](http://evil.example/p.png)"
    library.note("<b>odd $name$ [x](y).md", text, ("# head *ing*",))
    at = ask(start(), "Price bold link?")
    body = html(at)
    assert "$5 and $2 **" in body
    assert "&lt;script&gt;" in body and "<script>alert" not in body
    assert "<b>tag</b>" not in body and "<img" not in body
    assert "&lt;b&gt;odd $name$ [x](y).md" in body
    assert "evil.example" not in "".join(element.value for element in at.markdown)


def test_without_a_model_server_the_page_says_that_these_are_quotes_and_how_to_add_one(optics: FakeLibrary) -> None:
    at = ask(start(), "Кто описал преломление света?")
    assert "No language model is connected" in seen(at)
    assert "ollama pull" in seen(at)


def test_who_wants_quotes_only_is_not_told_to_install_a_model(optics: FakeLibrary) -> None:
    optics.settings = replace(optics.settings, quotes_only=True)
    at = ask(start(), "Кто описал преломление света?")
    assert "No language model is connected" not in seen(at)
    assert optics.asked[-1]["use_llm"] is False


def test_who_asks_for_a_quotation_or_has_a_model_that_failed_is_not_told_to_install_one(optics: FakeLibrary) -> None:
    assert "No language model" not in seen(ask(start(), "Процитируй, кто описал преломление света"))

    def fails(reply: Reply) -> None:
        optics._quote(reply)
        reply.update(model="ollama:tiny")

    optics.work = fails
    assert "No language model" not in seen(ask(start(), "Кто описал преломление света?"))


def test_a_refusal_is_in_the_questions_language_with_the_nearest_passages_as_no_answer(optics: FakeLibrary) -> None:
    at = ask(start(), "Кто победил на чемпионате мира, если говорить про свет?")
    page = seen(at)
    assert "В конспектах этого нет." in page
    assert "Nearest passages. They are not an answer." in page
    assert "Дифракция" in page


def test_confidence_threshold_and_sub_questions_are_shown(optics: FakeLibrary) -> None:
    search = optics.search
    optics.search = lambda *a, **k: replace(search(*a, **k), sub_questions=("Что такое преломление?",))  # type: ignore[method-assign]
    at = ask(start(), "Кто описал преломление света?")
    assert re.search(r"confidence \d+ %, needed 50 %", seen(at))
    assert "↳ Что такое преломление?" in seen(at)


def test_a_model_that_is_warming_up_is_said_so_and_the_page_is_drawn_without_waiting(optics: FakeLibrary) -> None:
    optics.current = IndexStatus(1, 2, 0, (), "loading", "bundled", loading=msg("Looking for the model."))
    at = start()
    assert at.chat_input
    assert "Looking for the model." in seen(at)
    assert not optics.asked


def test_generated_text_links_only_real_marks_and_shows_what_is_not_supported(optics: FakeLibrary) -> None:
    text = "Свет преломляется [1]. Это было в 1999 (?) году [1], как в статье [77]. **Важно** <i>x</i>"
    first, second = text.index("[1]"), text.index("[1]", 30)

    def work(reply: Reply) -> None:
        reply.add(text)
        reply.update(
            answered_by="ollama:tiny",
            marks=(Mark(first, first + 3, 1), Mark(second, second + 3, 1)),
            sentences=(
                AnswerSentence(0, 23, (1,), "supported", 0.9),
                AnswerSentence(23, len(text), (1,), "not found", 0.1, ("1999",)),
            ),
        )

    optics.work = work
    at = ask(start(), "Кто описал преломление света?")
    body = html(at)
    assert body.count('class="k-mark"') == 2
    assert "[77]" in body
    assert 'class="k-unfounded"' in body and 'class="k-doubt"' in body
    assert "<b>Важно</b> &lt;i&gt;x&lt;/i&gt;" in body
    assert "50 % of the sentences are supported" in seen(at)


def test_a_question_that_cannot_be_asked_gets_one_sentence(optics: FakeLibrary) -> None:
    optics.problems["ask"] = QuestionError(msg("The question is empty. Type what you want to know."))
    at = ask(start(), "?")
    assert "The question is empty. Type what you want to know." in seen(at)


def test_a_fault_of_ours_gets_one_sentence_and_no_traceback(optics: FakeLibrary) -> None:
    optics.ask = lambda *a, **k: 1 / 0  # type: ignore[method-assign]
    at = ask(start(), "Кто описал преломление света?")
    assert "Something unexpected went wrong." in seen(at)
    assert "ZeroDivisionError" not in seen(at)


def test_spaces_are_no_question(optics: FakeLibrary) -> None:
    at = start()
    at.chat_input[0].set_value("   ").run()
    assert not optics.asked


def slow(library: FakeLibrary) -> threading.Event:
    """Have the library answer with a first word, then wait."""
    go_on = threading.Event()

    def work(reply: Reply) -> None:
        reply.update(answered_by="ollama:tiny", stage="writing")
        reply.add("Первое слово")
        go_on.wait(20)
        reply.add(" и последнее [1].")

    library.work = work
    return go_on


def until(true: Callable[[], bool]) -> None:
    done = threading.Event()
    for _ in range(400):
        if true():
            return
        done.wait(0.05)
    raise AssertionError("it does not come true")


def test_stop_keeps_what_was_written_and_says_that_it_is_cut_off(optics: FakeLibrary) -> None:
    go_on = slow(optics)
    at = start()
    at.chat_input[0].set_value("Кто описал преломление света?").run()
    until(lambda: "Первое слово" in seen(at.run()))
    press(at, "Stop")
    settle(at)
    assert "Первое слово" in seen(at) and "и последнее" not in seen(at)
    assert "Stopped: the answer is not complete." in seen(at)
    go_on.set()


def test_stop_is_obeyed_at_once_while_passages_are_still_looked_for(optics: FakeLibrary) -> None:
    go_on, answer = threading.Event(), optics.ask

    def waiting(question: str, **how: object) -> Reply:
        go_on.wait(20)
        return answer(question, **how)  # type: ignore[arg-type]

    optics.ask = waiting  # type: ignore[method-assign,assignment]
    at = start()
    at.chat_input[0].set_value("Кто описал преломление света?").run()
    at = press(at, "Stop")
    assert "Stopped before anything was found." in seen(at)
    assert not [button for button in at.button if button.label == "Stop"]
    go_on.set()
    assert "Stopped: the answer is not complete." in seen(settle(at))


def test_an_answer_goes_on_while_another_page_is_looked_at(optics: FakeLibrary) -> None:
    go_on = slow(optics)
    at = start()
    at.chat_input[0].set_value("Кто описал преломление света?").run()
    until(lambda: "Первое слово" in seen(at.run()))
    visit(at, "pages/library.py")
    go_on.set()
    at = settle(visit(at, "app.py"))
    assert "и последнее" in seen(at)
    assert len(optics.asked) == 1


def test_earlier_questions_stay_folded_under_the_latest_and_are_handed_on_as_history(optics: FakeLibrary) -> None:
    at = ask(start(), "Кто описал преломление света?")
    at = ask(at, "Что делает дифракция?")
    assert [expander.label for expander in at.expander] == ["Кто описал преломление света?"]
    assert optics.asked[1]["history"][0][0] == "Кто описал преломление света?"


def test_a_question_can_be_kept_to_chosen_files(optics: FakeLibrary) -> None:
    optics.note("other.md", "Свет есть и тут.")
    at = start()
    at.multiselect[0].set_value(["other.md"]).run()
    ask(at, "Что про свет?")
    filters = optics.asked[-1]["filters"]
    assert filters is not None and filters.files == ("other.md",) and filters.folders == ()


def test_neighbours_of_a_passage_can_be_opened(optics: FakeLibrary) -> None:
    at = ask(start(), "Кто описал преломление?")
    assert "Дифракция огибает" not in seen(at)
    at = press(at, "Neighbours")
    assert "Дифракция огибает" in seen(at)


def test_the_page_of_a_passage_opens_as_a_picture(optics: FakeLibrary) -> None:
    at = press(ask(start(), "Кто описал преломление?"), "Open page")
    assert at.image
    assert "1 of 2" in seen(at)


def test_other_files_with_the_same_text_are_named(optics: FakeLibrary) -> None:
    search = optics.search

    def doubled(*a: object, **k: object) -> object:
        result = search(*a, **k)  # type: ignore[arg-type]
        return replace(result, hits=tuple(replace(hit, same_in=("copy.md",)) for hit in result.hits))

    optics.search = doubled  # type: ignore[method-assign,assignment]
    assert "also in copy.md" in seen(ask(start(), "Кто описал преломление?"))


# Library


def test_files_are_listed_with_state_pages_and_reason(optics: FakeLibrary) -> None:
    optics.note("broken.docx", "", state="failed", error=msg("This file is empty."))
    optics.note("scan.pdf", "", state="no text", report=Report(7, (1, 2), (3,), (4,), (5, 6, 7)))
    optics.note("locked.pdf", "", state="password needed", error=msg("This file is protected by a password."))
    page = seen(visit(start(), "pages/library.py"))
    assert "physics/ optics.pdf ready 2 passages · 2 pages" in page
    assert "broken.docx cannot be read" in page and "This file is empty." in page
    assert "7 pages · 1 by text recognition · 1 empty · doubtful: 5–7" in page
    assert "needs a password" in page
    assert str(optics.paths.notes) in page


def test_work_going_on_is_shown_file_by_file(optics: FakeLibrary) -> None:
    optics.current = IndexStatus(1, 2, 3, (FileProgress("big_book.pdf", "parsing", 30, 120),), "ready", "bundled")
    at = visit(start(), "pages/library.py")
    assert [bar.value for bar in at.get("progress")] == [25]
    assert "3 more files are waiting." in seen(at)


def test_several_files_are_taken_in_at_once_and_those_of_no_use_named(library: FakeLibrary) -> None:
    at = visit(start(), "pages/library.py")
    at.file_uploader[0].set_value(
        [("a.md", b"One.", "text/markdown"), ("b.exe", b"MZ", "application/x-msdownload")]
    ).run()
    page = seen(checked(at))
    assert "1 file added." in page
    assert "“b.exe” is of a type that cannot be read." in page


def test_a_folder_keeps_its_structure_and_what_is_no_note_in_it_is_left_out(library: FakeLibrary) -> None:
    at = visit(start(), "pages/library.py")
    files = [
        ("course/w1/a.md", b"One.", "text/markdown"),
        ("course/.git/x.md", b"x", ""),
        ("course/run.exe", b"MZ", ""),
    ]
    at.file_uploader[1].set_value(files).run()
    assert [file.path for file in library.files()] == ["course/w1/a.md"]
    assert "2 files of other kinds were left out" in seen(checked(at))


def test_a_different_file_of_the_same_name_is_never_replaced_unasked(library: FakeLibrary) -> None:
    library.add_file("a.md", b"Old.")
    at = visit(start(), "pages/library.py")
    at.file_uploader[0].upload("a.md", b"New.", "text/markdown").run()
    assert "A different file named a.md is already here." in seen(at)
    assert library.chunks("a.md")[0].text == "Old."
    at = press(at, "Keep both")
    assert [file.path for file in library.files()] == ["a (2).md", "a.md"]


def test_replacing_is_done_when_asked_for(library: FakeLibrary) -> None:
    library.add_file("a.md", b"Old.")
    at = visit(start(), "pages/library.py")
    at.file_uploader[0].upload("a.md", b"New.", "text/markdown").run()
    press(at, "Replace it")
    assert library.chunks("a.md")[0].text == "New."


def test_a_file_is_deleted_only_after_a_second_word(optics: FakeLibrary) -> None:
    at = visit(start(), "pages/library.py")
    at.menu_button[0].click("delete").run()
    assert not optics.deleted
    press(at, "Delete")
    assert optics.deleted == ["physics/optics.pdf"]


def test_a_file_can_be_read_again(optics: FakeLibrary) -> None:
    at = visit(start(), "pages/library.py")
    at.menu_button[0].click("retry").run()
    assert optics.retried == ["physics/optics.pdf"]


# Passages


def test_a_files_passages_stand_in_order_beside_the_page(optics: FakeLibrary) -> None:
    at = visit(start(), "pages/chunks.py")
    page = seen(at)
    assert page.index("Преломление света") < page.index("Дифракция огибает")
    assert at.image


def test_a_link_opens_the_file_at_the_passage_and_its_page(optics: FakeLibrary) -> None:
    optics.note("a.md", "Other.")
    at = start()
    at.query_params["file"], at.query_params["chunk"] = "physics/optics.pdf", "1"
    at = visit(at, "pages/chunks.py")
    assert at.selectbox[0].value == "physics/optics.pdf"
    assert "2 of 2" in seen(at)


def test_a_link_to_a_file_that_is_gone_says_so(optics: FakeLibrary) -> None:
    at = start()
    at.query_params["file"] = "gone.md"
    assert "gone.md is not in the library" in seen(visit(at, "pages/chunks.py"))


def test_without_files_the_passages_page_leads_to_the_library(library: FakeLibrary) -> None:
    assert "Once files have been read" in seen(visit(start(), "pages/chunks.py"))


# Settings


def test_each_choice_is_saved_as_it_is_made(optics: FakeLibrary) -> None:
    optics.models = ["qwen3:4b", "gemma3:4b"]
    at = visit(start(), "pages/settings.py")
    at.toggle[0].set_value(True).run()
    at.slider[0].set_value(30).run()
    next(box for box in at.selectbox if box.label == "Language model").select("gemma3:4b").run()
    at.segmented_control[0].set_value(5).run()
    saved = optics.settings
    assert (saved.quotes_only, saved.refusal, saved.chat_model, saved.top_k) == (True, 0.3, "gemma3:4b", 5)


def test_without_ollama_the_settings_tell_how_to_get_it(optics: FakeLibrary) -> None:
    page = seen(visit(start(), "pages/settings.py"))
    assert "Ollama does not answer at" in page
    assert "ollama.com" in page


def test_a_setting_that_cannot_be_saved_says_why(optics: FakeLibrary) -> None:
    optics.problems["change_settings"] = SettingsError(msg("Cannot write to the data folder {folder}.", folder="/data"))
    at = visit(start(), "pages/settings.py")
    at.toggle[0].set_value(True).run()
    assert "Cannot write to the data folder /data." in seen(checked(at))


def test_another_embedder_is_taken_only_when_confirmed(optics: FakeLibrary) -> None:
    at = visit(start(), "pages/settings.py")
    box = next(box for box in at.selectbox if box.key == "set-embedder")
    box.options.append("intfloat/multilingual-e5-base")  # what typing a new one does
    checked(box.select_index(1).run())
    assert optics.settings.embedder == "bundled"
    press(at, "Use this model")
    assert optics.settings.embedder == "intfloat/multilingual-e5-base"


def test_what_works_here_is_told_with_what_to_do(optics: FakeLibrary) -> None:
    page = seen(press(visit(start(), "pages/settings.py"), "Check"))
    assert "Tesseract" in page and "Install Tesseract to read scans." in page


# Language and errors


def test_the_browsers_language_is_spoken_and_the_setting_wins_over_it(optics: FakeLibrary) -> None:
    assert "Что вы хотите узнать?" in seen(start("ru-RU"))
    optics.settings = replace(optics.settings, language="en")
    assert "What would you like to know?" in seen(start("ru-RU"))


@pytest.mark.parametrize("page", ["app.py", "pages/library.py", "pages/chunks.py", "pages/settings.py"])
def test_no_english_is_left_on_a_russian_page(optics: FakeLibrary, page: str) -> None:
    optics.note(
        "scan.pdf", "", state="no text", report=Report(7, (1, 2), (3,), (4,), (5, 6, 7)), meta=Meta(date="2024-09-02")
    )
    at = ask(start("ru-RU"), "Кто описал преломление света?")
    if page != "app.py":
        at = visit(at, page)
    known = {"optics", "physics", "pdf", "scan", "http", "data"}
    words = set(re.findall(r"[a-z]{3,}", seen(at).replace(str(optics.paths.notes.parent), "").lower()))
    allowed = set(re.findall(r"[a-z]{3,}", " ".join(texts_of_catalogue()).lower())) | known
    assert words <= allowed, words - allowed


def texts_of_catalogue() -> list[str]:
    """The Russian texts, whose Latin words (names of programs) are meant to be there."""
    texts = catalogue("ru")._catalog  # type: ignore[attr-defined]
    return [text for key, text in texts.items() if key]


def test_a_locked_data_folder_gets_one_sentence_and_a_way_on(library: FakeLibrary) -> None:
    def locked(paths: object) -> FakeLibrary:
        raise StoreError(msg("Konspekt is already running with the data folder {folder}.", folder="/data"))

    opened.open_with(locked)  # type: ignore[arg-type]
    at = start()
    assert "Konspekt is already running with the data folder /data." in seen(at)
    opened.open_with(lambda paths: library)  # type: ignore[arg-type,return-value]
    assert "Ask your own notes" in seen(press(at, "Try again"))


def test_a_data_folder_that_cannot_be_used_gets_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KONSPEKT_NOTES", str(tmp_path))
    monkeypatch.setenv("KONSPEKT_DATA", str(tmp_path / "file" / "data"))
    opened.open_with(None)
    page = seen(start())
    assert f"Cannot write to the folder {tmp_path}/file/data" in page
    assert "Choose another folder or change its permissions." in page


def test_the_app_listens_on_this_machine_only_and_reports_to_nobody() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["server"]["address"] == "127.0.0.1"
    assert config["server"]["allowedHosts"] == ["localhost", "127.0.0.1"]
    assert config["browser"]["gatherUsageStats"] is False
    assert config["client"]["toolbarMode"] == "minimal"


def test_a_page_that_fails_says_so_without_a_traceback(optics: FakeLibrary, caplog: pytest.LogCaptureFixture) -> None:
    at = start()
    optics.files = lambda: 1 / 0  # type: ignore[method-assign]
    at = visit(at, "pages/chunks.py")
    assert "Something unexpected went wrong on this page." in seen(at)
    assert "ZeroDivisionError" in caplog.text


def test_one_library_serves_all_tabs_and_is_warmed_up_once(optics: FakeLibrary) -> None:
    opened_with = []
    opened.open_with(lambda paths: opened_with.append(paths) or optics)  # type: ignore[arg-type,func-returns-value]
    start(), start()
    assert len(opened_with) == 1
    assert optics.warmed


def test_the_first_page_loads_nothing_heavy() -> None:
    program = """
import sys, tempfile, pathlib
from streamlit.testing.v1 import AppTest
from pages.ui import opened
from pages.ui.downloads import downloads
from tests.fake_library import fake
library = fake(pathlib.Path(tempfile.mkdtemp()))
library.note("a.md", "Text of a note.")
opened.open_with(lambda paths: library)
at = AppTest.from_file("app.py", default_timeout=30).run()
assert not at.exception
heavy = {"torch", "chromadb", "pymupdf", "unstructured", "sentence_transformers", "transformers", "ollama"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_hits_are_shown_with_the_scores_of_both_paths(optics: FakeLibrary) -> None:
    search = optics.search

    def scored(*a: object, **k: object) -> object:
        result = search(*a, **k)  # type: ignore[arg-type]
        hit = Hit(result.hits[0].chunk, 0.91, 0.86, 12.34, 0.75, 2, 1)
        return replace(result, hits=(hit,))

    optics.search = scored  # type: ignore[method-assign,assignment]
    page = seen(ask(start(), "Кто описал преломление?"))
    assert re.search(r"match 0\.91 meaning 0\.86 words 12\.3 rerank 0\.75", page)


# History and saving


def test_an_answer_can_be_saved_as_markdown_and_word(optics: FakeLibrary) -> None:
    at = ask(start(), "Кто описал преломление света?")
    assert [button.label for button in at.download_button] == ["Markdown", "Word"]


def test_earlier_answers_are_found_again_and_say_when_their_source_is_gone(optics: FakeLibrary) -> None:
    ask(start(), "Кто описал преломление света?")
    opened.shared_library.clear()
    at = press(start(), "History")
    entry = next(button for button in at.button if (button.key or "").startswith("past-"))
    assert "Кто описал преломление света?" in entry.label
    optics.delete_file("physics/optics.pdf")
    optics.note("other.md", "Другое.")
    at.session_state["_past"] = int(str(entry.key).removeprefix("past-"))
    kept = opened_entry(at)
    assert "Преломление света описал Снеллиус" in kept
    assert "physics/optics.pdf is no longer among the notes." in kept
    assert kept.count("Преломление света описал Снеллиус") > 1  # the passage as it was stands under its source
    assert "Exact quotes" in kept


def test_an_answer_that_cannot_be_deleted_says_so(optics: FakeLibrary) -> None:
    ask(start(), "Кто описал преломление света?")

    def script() -> None:
        import streamlit

        from pages.ui.opened import shared_library
        from pages.ui.past import _history_dialog

        streamlit.session_state.setdefault("_past", 1)
        _history_dialog(shared_library())

    at = checked(AppTest.from_function(script, default_timeout=30).run())
    (optics.paths.data / "history.sqlite3").write_bytes(b"not a database at all, but long enough to be read" * 40)
    page = seen(checked(next(b for b in at.button if b.key == "past-delete").click().run()))
    assert "history.sqlite3 cannot be used" in page


def opened_entry(at: AppTest) -> str:
    """Draw the history again with an entry chosen, as the dialog does by itself when one is pressed."""

    def script() -> None:
        import streamlit

        from pages.ui.opened import shared_library
        from pages.ui.past import _history_dialog

        library = shared_library()
        streamlit.session_state["_past"] = streamlit.session_state.get("_past", 1)
        _history_dialog(library)

    return seen(checked(AppTest.from_function(script, default_timeout=30).run()))


# Downloading a language model


def test_a_model_is_downloaded_to_ollama_and_can_then_be_chosen(optics: FakeLibrary) -> None:
    with OllamaServer(Behaviour(models={})) as ollama:
        optics.settings = replace(optics.settings, ollama_url=ollama.url)
        optics.models = []
        at = visit(start(), "pages/settings.py")
        next(box for box in at.text_input if box.key == "download-name").set_value("gemma3:1b").run()
        at = press(at, "Download")
        assert downloads()[ollama.url].finished.wait(20)
        assert "gemma3:1b" in ollama.behaviour.models
        optics.models = list(ollama.behaviour.models)
        assert "gemma3:1b" in next(box for box in checked(at.run()).selectbox if box.key == "set-chat").options


def test_a_model_that_does_not_exist_gets_one_sentence(optics: FakeLibrary) -> None:
    with OllamaServer(Behaviour(models={})) as ollama:
        optics.settings = replace(optics.settings, ollama_url=ollama.url)
        optics.models = []
        at = visit(start(), "pages/settings.py")
        next(box for box in at.text_input if box.key == "download-name").set_value("nosuch").run()
        at = press(at, "Download")
        assert downloads()[ollama.url].finished.wait(20)
        assert "pull model manifest: file does not exist" in seen(checked(at.run()))
