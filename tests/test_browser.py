"""The app as a student meets it: a real server, the real library and model, and a real browser without a window."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from tests.ollama_server import Behaviour, OllamaServer
from tests.waiting import eventually

ROOT = Path(__file__).parent.parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium"),
    pytest.mark.timeout(600),
]
PATIENCE, FIRST_START = 90_000, 300_000  # milliseconds; a first start unpacks the model, on a busy machine

NOTE = """# Оптика

## Преломление

Преломление света описал Снеллиус в 1621 году. Отношение синусов углов постоянно.

## Дифракция

Дифракция — это огибание волнами препятствий. Поэтому свет заходит в область тени.
"""
PAGES = [
    ("Photosynthesis", "Photosynthesis takes place in chloroplasts.", "Chlorophyll absorbs red and blue light."),
    ("Respiration", "Cells release energy in mitochondria.", "Oxygen is needed for aerobic respiration of glucose."),
    ("Genetics", "Genes are made of DNA.", "Mendel counted 7324 peas in his garden."),
]


def textbook(path: Path) -> Path:
    """Draw a PDF of three pages, each with a heading."""
    document = pymupdf.open()
    for heading, *lines in PAGES:
        page = document.new_page(width=420, height=595)
        page.insert_text((50, 80), heading, fontsize=20, fontname="hebo")
        for n, line in enumerate(lines):
            page.insert_text((50, 120 + 16 * n), line, fontsize=11)
    document.save(path)
    document.close()
    return path


# What a person can see: text that is drawn at some size. Streamlit's own English words are still in the page, at none.
SEEN = """() => {
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const holder = walker.currentNode.parentElement, style = getComputedStyle(holder);
    if (parseFloat(style.fontSize) > 0 && holder.checkVisibility() && !holder.closest("[aria-hidden]")
        && holder.getBoundingClientRect().width > 1) texts.push(walker.currentNode.data);
  }
  return texts.join("\\n");
}"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class App:
    """A running app, its folders, the model server that it is told of, and what its pages fetched."""

    url: str
    notes: Path
    log: Path
    ollama: OllamaServer
    fetched: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Iterator[App]:
    folder, port = tmp_path_factory.mktemp("app"), free_port()
    (folder / "notes").mkdir()
    (folder / "data").mkdir()
    (models / "models").mkdir(exist_ok=True)
    (folder / "data" / "models").symlink_to(models / "models")
    with OllamaServer(Behaviour(models={})) as ollama, (folder / "log.txt").open("w") as log:
        environment = {
            **os.environ,
            "KONSPEKT_NOTES": str(folder / "notes"),
            "KONSPEKT_DATA": str(folder / "data"),
            "KONSPEKT_OLLAMA": ollama.url,
        }
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
        command += ["--server.headless", "true"]
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            assert eventually(lambda: answers(f"{url}/_stcore/health"), 120), (folder / "log.txt").read_text()
            yield App(url, folder / "notes", folder / "log.txt", ollama)
        finally:
            stop(server)


def stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    server.wait(30)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def window(app: App, browser: Any, path: str = "/", **options: Any) -> Any:
    """Open a page of the app in a window of its own."""
    context = browser.new_context(**{"locale": "en-US", "viewport": {"width": 1440, "height": 900}, **options})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("request", lambda request: app.fetched.append(request.url))
    page.goto(app.url + path)
    page.get_by_text("Konspekt", exact=True).first.wait_for(state="attached")
    return page


@pytest.fixture
def page(app: App, browser: Any, library: None) -> Iterator[Any]:
    opened = window(app, browser)
    yield opened
    opened.context.close()


@pytest.fixture(scope="module")
def library(app: App, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two files, uploaded where a new student is told to, and read."""
    folder = tmp_path_factory.mktemp("files")
    note = folder / "optics.md"
    note.write_text(NOTE, encoding="utf-8")
    page = window(app, browser)
    page.get_by_text("Ask your own notes").wait_for()
    files = page.locator("[class*='-files'] input[type=file]")
    files.set_input_files([str(textbook(folder / "biology.pdf")), str(note)])
    page.get_by_text("2 files added").wait_for()
    visit(page, "Library")
    row(page, "biology.pdf").get_by_text("ready").wait_for(timeout=FIRST_START)
    row(page, "optics.md").get_by_text("ready").wait_for(timeout=FIRST_START)
    page.context.close()


def visit(page: Any, name: str) -> None:
    page.get_by_test_id("stSidebar").get_by_role("link", name=name).click()


def row(page: Any, name: str) -> Any:
    return page.locator("[class*='st-key-row-']").filter(has_text=name)


def ask(page: Any, question: str) -> None:
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")
    page.locator(".k-question", has_text=question).wait_for()


def answered(page: Any) -> str:
    """Wait until the answer is complete; return what it says."""
    page.locator(".k-about").first.wait_for()
    return str(page.locator(".k-answer").first.inner_text())


def cards(page: Any) -> Any:
    return page.locator("[class*='st-key-card-']")


def test_a_question_gets_a_quoted_cited_answer_beside_three_passages(page: Any) -> None:
    ask(page, "Where does photosynthesis take place?")
    answer = answered(page)
    assert "Photosynthesis takes place in chloroplasts." in answer
    assert re.search(r"biology\.pdf, p\. 1", answer)
    assert eventually(lambda: cards(page).count() == 3)
    first = cards(page).first
    assert re.sub(r"\s+", " ", first.locator(".k-where").inner_text()) == "biology.pdf › Photosynthesis › p. 1"
    first.locator("mark").first.wait_for()
    assert "photosynthesis" in [mark.lower() for mark in first.locator("mark").all_inner_texts()]
    page.get_by_text("No language model is connected").wait_for()
    for card in cards(page).all():
        assert re.search(r"\.(pdf|md)", card.locator(".k-where").inner_text())


def test_a_mark_leads_to_its_passage(page: Any) -> None:
    ask(page, "Where does photosynthesis take place?")
    answered(page)
    page.locator(".k-mark").first.click()
    target = page.locator("article:target")
    target.wait_for()
    assert "chloroplasts" in target.inner_text()


def test_the_cited_page_opens_as_a_picture_with_the_passage_marked(page: Any) -> None:
    ask(page, "How many peas did Mendel count?")
    answered(page)
    cards(page).filter(has_text="7324").get_by_role("button", name="Open page").click()
    dialog = page.get_by_role("dialog")
    picture = dialog.locator("img")
    picture.wait_for()
    assert eventually(lambda: bool(picture.evaluate("image => image.naturalWidth > 300")))
    dialog.get_by_text("3 of 3").wait_for()
    dialog.get_by_role("button", name="Previous page").click()
    dialog.get_by_text("2 of 3").wait_for()


def test_a_question_the_notes_do_not_answer_is_refused_in_its_language(page: Any) -> None:
    ask(page, "Кто выиграл чемпионат мира по футболу 1998 года?")
    assert "В конспектах этого нет." in answered(page)
    page.get_by_text("Nearest passages. They are not an answer.").wait_for()


def test_an_answer_survives_a_reload_and_a_change_of_page(page: Any) -> None:
    ask(page, "Кто описал преломление света?")
    assert "Снеллиус" in answered(page)
    page.reload()
    assert "Снеллиус" in answered(page)
    visit(page, "Settings")
    page.get_by_role("heading", name="Settings").wait_for()
    visit(page, "Ask")
    assert "Снеллиус" in answered(page)


def test_several_tabs_ask_at_once_over_one_library(app: App, browser: Any, page: Any) -> None:
    other = window(app, browser)
    ask(page, "Кто описал преломление света?")
    ask(other, "How many peas did Mendel count?")
    assert "Снеллиус" in answered(page)
    assert "7324" in answered(other)
    other.context.close()


def test_an_answer_being_written_can_be_stopped(app: App, page: Any) -> None:
    pieces = ["Снеллиус описал ", "преломление света "]
    app.ollama.behaviour = Behaviour(write=lambda messages, tokens: pieces, fault="hang later")
    try:
        ask(page, "Кто описал преломление света?")
        page.locator(".k-answer", has_text="Снеллиус описал").wait_for()
        assert eventually(lambda: cards(page).count() > 0)
        page.get_by_role("button", name="Stop").click()
        page.get_by_text("Stopped: the answer is not complete.").wait_for()
        assert "Снеллиус описал" in answered(page)
        assert app.ollama.free_within(5)
    finally:
        app.ollama.behaviour = Behaviour(models={})


def test_an_answer_goes_on_when_the_page_is_left_and_is_there_on_return(app: App, page: Any) -> None:
    pieces = ["Снеллиус ", "описал ", "преломление ", "света ", "[1]."]
    app.ollama.behaviour = Behaviour(write=lambda messages, tokens: pieces)
    try:
        ask(page, "Кто описал преломление света?")
        visit(page, "Passages")
        page.get_by_role("heading", name="Passages").wait_for()
        visit(page, "Ask")
        assert "Снеллиус описал преломление света" in answered(page)
        assert len(page.locator(".k-answer").first.locator(".k-mark").all()) == 1
    finally:
        app.ollama.behaviour = Behaviour(models={})


def test_a_dragged_folder_is_taken_in_with_its_structure(app: App, page: Any, tmp_path: Path) -> None:
    week = tmp_path / "chemistry" / "week1"
    week.mkdir(parents=True)
    (week / "acids.md").write_text("# Acids\n\nLitmus turns red in acids.\n", encoding="utf-8")
    visit(page, "Library")
    drop(page, page.get_by_test_id("stFileUploaderDropzone").first, tmp_path / "chemistry")
    row(page, "acids.md").get_by_text("ready").wait_for()
    assert (app.notes / "chemistry" / "week1" / "acids.md").is_file()


def drop(page: Any, target: Any, path: Path) -> None:
    """Drag a file or a folder from outside the browser onto an element."""
    target.wait_for()
    box = target.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    devtools = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})


def test_a_file_copied_into_the_folder_is_found_and_a_deleted_one_no_longer(app: App, page: Any) -> None:
    app.notes.joinpath("tides.md").write_text("# Tides\n\nTides are caused by the moon Selene.\n", encoding="utf-8")
    visit(page, "Library")
    row(page, "tides.md").get_by_text("ready").wait_for()
    visit(page, "Ask")
    ask(page, "What causes the tides?")
    assert "Selene" in answered(page)
    visit(page, "Library")
    row(page, "tides.md").get_by_role("button").click()
    page.get_by_text("Delete", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    row(page, "tides.md").wait_for(state="detached")
    assert not app.notes.joinpath("tides.md").exists()
    visit(page, "Ask")
    ask(page, "Which moon causes the tides?")
    answered(page)
    assert "Selene" not in page.locator("[data-testid=stMainBlockContainer]").inner_text()


def test_a_file_that_cannot_be_read_says_why_and_the_rest_goes_on(app: App, page: Any) -> None:
    app.notes.joinpath("broken.pdf").write_bytes(b"%PDF-1.7\nnothing of use")
    visit(page, "Library")
    row(page, "broken.pdf").get_by_text("cannot be read").wait_for()
    assert "damaged" in row(page, "broken.pdf").inner_text()
    app.notes.joinpath("broken.pdf").unlink()
    row(page, "broken.pdf").wait_for(state="detached")


def test_a_link_to_a_passage_opens_its_file_and_page(app: App, browser: Any, library: None) -> None:
    page = window(app, browser, "/chunks?file=biology.pdf&chunk=2")
    page.locator("[class*='st-key-chosen-']", has_text="7324").wait_for()
    page.get_by_text("3 of 3").wait_for()
    page.context.close()


@pytest.mark.parametrize("path", ["/", "/library", "/chunks", "/settings"])
def test_a_russian_browser_is_spoken_to_in_russian(app: App, browser: Any, library: None, path: str) -> None:
    page = window(app, browser, path, locale="ru-RU")
    page.get_by_test_id("stSidebar").get_by_text("Всё остаётся на этом компьютере.").wait_for()
    if path == "/library":
        page.get_by_text("Перетащите сюда файлы и папки").wait_for(state="attached")
        row(page, "biology.pdf").wait_for()
    seen = page.evaluate(SEEN)
    assert "Konspekt" in seen
    assert not re.findall(r"\b(Deploy|Upload|Browse|Drag|per file|Running|Choose|Settings|Library|files?)\b", seen)
    page.context.close()


@pytest.mark.parametrize("path", ["/", "/library", "/chunks?file=biology.pdf", "/settings"])
def test_nothing_sticks_out_of_a_narrow_window(app: App, browser: Any, library: None, path: str) -> None:
    page = window(app, browser, path, viewport={"width": 400, "height": 800})
    page.get_by_test_id("stMainBlockContainer").wait_for()
    assert eventually(lambda: bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth")))
    wide = page.evaluate(
        "[...document.querySelectorAll('[data-testid=stMainBlockContainer] *')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.k-table')).length"
    )
    assert wide == 0
    page.context.close()


def test_the_browser_fetches_nothing_from_elsewhere(app: App, browser: Any, page: Any) -> None:
    """Last in this file: it looks back at what all the tests above made the pages fetch."""
    ask(page, "Where does photosynthesis take place?")
    answered(page)
    local = ("http://127.0.0.1:", "http://localhost:", "ws://127.0.0.1:", "data:", "blob:")
    assert app.fetched
    assert [url for url in app.fetched if not url.startswith(local)] == []


def test_a_second_app_on_the_same_data_folder_says_what_to_do(app: App, browser: Any, library: None) -> None:
    port = free_port()
    environment = {
        **os.environ,
        "KONSPEKT_NOTES": str(app.notes),
        "KONSPEKT_DATA": str(app.notes.parent / "data"),
    }
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    command += ["--server.headless", "true"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL) as second:
        try:
            assert eventually(lambda: answers(f"http://127.0.0.1:{port}/_stcore/health"), 120)
            page = browser.new_context(locale="en-US").new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(f"http://127.0.0.1:{port}")
            page.get_by_text("Konspekt is already running with the data folder").wait_for()
            assert page.get_by_text("Traceback").count() == 0
            stop(second)
            dialog = page.get_by_role("dialog")
            dialog.wait_for()
            told = dialog.locator("h2").evaluate("title => getComputedStyle(title, '::after').content")
            assert told == '"Konspekt is not running"'
        finally:
            second.terminate()
