"""Saved web pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents import block_with, only_table, put, read, texts, whole

PARAGRAPH = "Импульс замкнутой системы сохраняется. " * 8
PAGE = f"""<!DOCTYPE html><html lang="ru"><head><title>Закон сохранения</title><meta name="author" content="Анна Ли">
<meta property="article:published_time" content="2024-03-02T10:00:00Z"><style>p {{color: red}}</style></head><body>
<header class="banner">Портал «Наука»</header>
<nav><ul><li><a href="/">Главная</a></li><li><a href="/f">Форум</a></li></ul></nav>
<script>var secret = "скрипт";</script><div class="cookie-consent">Мы используем куки</div>
<main><h1>Импульс</h1><p>{PARAGRAPH}</p><h2>Удар</h2>
<ol start="3"><li>упругий</li><li>неупругий<ul><li>полностью</li></ul></li></ol>
<table><caption>Массы</caption><tr><th rowspan="2">Тело</th><th colspan="2">Масса</th></tr>
<tr><th>до</th><th>после</th></tr>
<tr><td>шар</td><td>1</td><td>2</td></tr></table><pre>v = p / m
  # код</pre><blockquote><p>Природа проста.</p></blockquote><p>E = mc<sup>2</sup>, H<sub>2</sub>O<br>новая строка</p>
<figure><img src="a.png" alt="Схема удара"><figcaption>Рис. 1. Удар</figcaption></figure>
<details><summary>Ответ</summary><p>Сорок два</p></details></main><footer>© 2024 Портал</footer></body></html>"""


def test_the_article_is_read_without_menus_banners_scripts_and_footers(tmp_path: Path) -> None:
    document = read(tmp_path, "a.html", PAGE)
    for unwanted in ("Портал", "Главная", "скрипт", "куки", "color", "©"):
        assert unwanted not in whole(document)
    assert texts(document, "heading") == ["Импульс", "Удар"]
    assert block_with(document, "сохраняется").heading == ("Импульс",)
    assert document.report.dropped["furniture"] > 0


def test_lists_code_quotes_captions_pictures_and_line_breaks_keep_their_structure(tmp_path: Path) -> None:
    document = read(tmp_path, "a.html", PAGE)
    assert texts(document, "list") == ["3. упругий\n4. неупругий\n  - полностью"]
    assert texts(document, "code") == ["v = p / m\n  # код"]
    assert texts(document, "quote") == ["> Природа проста."]
    assert texts(document, "caption") == ["Рис. 1. Удар"]
    assert {"E = mc², H₂O\nновая строка", "[image: Схема удара]", "Ответ", "Сорок два"} <= set(
        texts(document, "paragraph")
    )


def test_a_table_keeps_its_place_caption_headers_and_merged_cells(tmp_path: Path) -> None:
    document = read(tmp_path, "a.html", PAGE)
    table = only_table(document)
    assert table.rows == (("Тело", "Масса", "Масса"), ("Тело", "до", "после"), ("шар", "1", "2"))
    assert (table.header_rows, table.caption) == (2, "Массы")
    assert [b.kind for b in document.blocks].index("table") < [b.kind for b in document.blocks].index("code")


def test_a_page_says_who_wrote_it_when_and_in_what_language(tmp_path: Path) -> None:
    meta = read(tmp_path, "a.html", PAGE).meta
    assert (meta.title, meta.author, meta.date, meta.language) == ("Закон сохранения", "Анна Ли", "2024-03-02", "ru")


def test_a_bare_page_gives_all_of_its_text(tmp_path: Path) -> None:
    document = read(tmp_path, "a.html", "<html><body>Просто текст<p>и абзац</p>5<p>я</p></body></html>")
    assert " ".join(texts(document)) == "Просто текст и абзац 5 я"


def test_where_cleaning_would_leave_too_little_the_whole_body_is_read(tmp_path: Path) -> None:
    inside = f'<html><body><div class="sidebar"><p>{PARAGRAPH}</p></div><p>мало</p></body></html>'
    assert "Импульс" in whole(read(tmp_path, "a.html", inside))
    named = f'<html><body><div class="has-sidebar"><p>{PARAGRAPH}</p></div><div>{"снизу " * 40}</div></body></html>'
    assert "Импульс" in whole(read(tmp_path, "c.html", named))
    empty_main = f"<html><body><main></main><div><p>{PARAGRAPH}</p></div></body></html>"
    assert "Импульс" in whole(read(tmp_path, "b.html", empty_main))


@pytest.mark.parametrize(
    ("declared", "actual"),
    [
        ("windows-1251", "cp1251"),
        ("koi8-r", "koi8-r"),
        ("utf-8", "cp1251"),
        ("iso-8859-1", "utf-8"),
        ("", "cp866"),
        ("cp1252", "utf-16"),
    ],
)
def test_a_charset_declared_rightly_wrongly_or_not_at_all(tmp_path: Path, declared: str, actual: str) -> None:
    meta = f'<meta charset="{declared}">' if declared else ""
    source = f"<html><head>{meta}</head><body><p>Съешь ещё этих мягких французских булок</p></body></html>"
    document = read(tmp_path, "a.html", source.encode(actual))
    assert texts(document) == ["Съешь ещё этих мягких французских булок"]
    assert document.report.encoding == actual


def test_hidden_text_is_left_out_and_counted(tmp_path: Path) -> None:
    source = f'<html><body><p>{PARAGRAPH}</p><p style="display: none">тайна</p><div hidden>секрет</div></body></html>'
    document = read(tmp_path, "a.html", source)
    assert "тайна" not in whole(document)
    assert "секрет" not in whole(document)
    assert document.report.dropped["hidden"] == 11


def test_tables_that_only_lay_a_page_out_are_undone(tmp_path: Path) -> None:
    source = (
        f"<html><body><table><tr><td><ul><li>меню</li></ul></td><td><h1>Статья</h1><p>{PARAGRAPH}</p></td>"
        f"</tr></table></body></html>"
    )
    document = read(tmp_path, "a.html", source)
    assert document.report.tables == 0
    assert block_with(document, "сохраняется").heading == ("Статья",)


def test_two_line_breaks_part_paragraphs(tmp_path: Path) -> None:
    assert texts(read(tmp_path, "a.html", "<html><body><div>раз<br><br/>два<br>три</div></body></html>")) == [
        "раз",
        "два\nтри",
    ]


def test_inlined_pictures_leave_nothing_behind(tmp_path: Path) -> None:
    data = "data:image/png;base64," + "iVBORw0KGgo" * 30_000
    document = read(tmp_path, "a.html", f'<html><body><p>до <img src="{data}"> после</p></body></html>')
    assert texts(document) == ["до после"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "source",
    ["<div>" * 20_000 + "дно", "<ul><li>" * 3_000 + "дно", "<p>" + "ы" * 400_000 + " дно", "<b><i>" * 5_000 + "дно"],
)
def test_deep_nesting_and_endless_lines_are_survived(tmp_path: Path, source: str) -> None:
    document = read(tmp_path, "a.html", f"<html><body><p>начало</p>{source}</body></html>")
    assert "начало" in whole(document)
    assert "дно" in whole(document)


def test_formulas_are_read_as_the_latex_that_they_were_made_from(tmp_path: Path) -> None:
    wikipedia = (
        '<span class="mwe-math-element"><span style="display: none;">'
        '<math alttext="{\\displaystyle E=mc^{2}}"><mi>E</mi></math></span>'
        '<img class="mwe-math-fallback-image-inline" aria-hidden="true" alt="{\\displaystyle E=mc^{2}}"></span>'
    )
    katex = (
        '<span class="katex"><span class="katex-mathml"><math><semantics><mi>a</mi><annotation '
        'encoding="application/x-tex">a_1</annotation></semantics></math></span>'
        '<span aria-hidden="true">a1</span></span>'
    )
    mathjax = '<script type="math/tex">\\alpha</script>'
    source = f"<html><body><p>Энергия {wikipedia}, член {katex}, угол {mathjax}.</p></body></html>"
    assert texts(read(tmp_path, "a.html", source)) == ["Энергия $E=mc^{2}$, член $a_1$, угол $\\alpha$."]


def test_reading_a_page_loads_no_model_sends_no_telemetry_and_asks_no_network(tmp_path: Path) -> None:
    page = put(tmp_path, "a.html", PAGE)
    code = f"""
import socket, sys
def refuse(*args):
    print("network", args[1:], flush=True)
    raise OSError("refused")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from pathlib import Path
from rag.parsing import ParseSettings, parse
document = parse(Path({str(page)!r}), ParseSettings())
import threading
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join(5)
print(len(document.blocks), sorted({{"torch", "spacy", "nltk", "tensorflow"}} & set(sys.modules)))
"""
    environment = {k: v for k, v in os.environ.items() if k not in ("DO_NOT_TRACK", "SCARF_NO_ANALYTICS")}
    environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    blocks, _, rest = done.stdout.strip().partition(" ")
    assert int(blocks) > 5
    assert rest == "[]"


def test_comments_in_highlighted_code_are_code(tmp_path: Path) -> None:
    code = '<pre><code>x = 1 <span class="hljs-comment"># единица</span></code></pre>'
    document = read(tmp_path, "a.html", f"<html><body><p>{PARAGRAPH}</p>{code}</body></html>")
    assert texts(document, "code") == ["x = 1 # единица"]


def test_a_table_that_is_named_a_menu_is_no_text_and_one_of_dishes_is(tmp_path: Path) -> None:
    page = (
        "<body><table id='tbmenu'><tr><td><a href='/'>Главная</a></td><td><a href='/o'>О нас</a></td></tr></table>"
        f"<h1>Столовая</h1><p>{PARAGRAPH}</p><table><tr><th>Блюдо</th><th>Цена</th></tr><tr><td>борщ</td><td>90</td></tr>"
        "</table></body>"
    )
    document = read(tmp_path, "a.html", page)
    assert "О нас" not in whole(document)
    assert only_table(document).rows[1] == ("борщ", "90")


def test_raised_endings_and_trade_marks_are_no_powers(tmp_path: Path) -> None:
    page = (
        "<p>In the 21<sup>st</sup> century Scotch<sup>TM</sup> tape costs 10<sup>2</sup>, and x<sup>k</sup> more.</p>"
    )
    assert texts(read(tmp_path, "a.html", page)) == ["In the 21st century Scotch™ tape costs 10², and x^k more."]
