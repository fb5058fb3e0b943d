"""Passages: the guarantees as properties, and how a student's notes should come apart."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from rag.chunking import chunk_document, embedding_texts, keyword_text
from rag.chunking.sections import without_titles
from rag.types import Block, BlockKind, Chunk, Meta, PageBox, ParsedDocument, Region, Table

WINDOW = 60
PREFIX = 4


def count(texts: Sequence[str]) -> list[int]:
    """Count as a small model would: a token for every three letters of a word and every mark, and a prefix."""
    return [PREFIX + sum(-(-len(word) // 3) for word in re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def chunks_of(*blocks: Block, window: int = 500, path: str = "физика/лекция.md") -> list[Chunk]:
    return chunk_document(ParsedDocument(blocks), path, count, window)


def heading(*path: str, page: int | None = None) -> Block:
    return Block(path[-1], "heading", path, (Region(0, page),), level=len(path))


def table_block(rows: Sequence[Sequence[str]], caption: str = "", path: tuple[str, ...] = ()) -> Block:
    lines = ([caption] if caption else []) + [" | ".join(row) for row in rows]
    return Block("\n".join(lines), "table", path, table=Table(tuple(map(tuple, rows)), 1, caption))


SENTENCE = "Сила, действующая на тело номер {n}, равна произведению его массы на ускорение."


def prose(first: int, last: int) -> str:
    return " ".join(SENTENCE.format(n=n) for n in range(first, last))


# Documents of every kind of block, under headings that come, go, repeat and stay empty.

WORDS = st.text(alphabet="абвгдежзик xyz.,:;!?-—\n|$0123456789«»()", min_size=1, max_size=300) | st.sampled_from(
    [prose(0, 12), "я" * 700, "Список:", "1. Первое\n2. Второе", "a\n" * 80, "$$ x = y $$", "界" * 90]
)
HEADINGS = st.lists(st.sampled_from(["Лекция 1", "Пример", "Ток " * 40, "B"]), max_size=3).map(tuple)
KINDS: st.SearchStrategy[BlockKind] = st.sampled_from(["paragraph", "list", "code", "quote", "caption", "note"])
CELL = st.text(alphabet="абв12 ,%", max_size=12)


@st.composite
def table_blocks(draw: st.DrawFn, path: tuple[str, ...]) -> Block:
    width = draw(st.integers(1, 5))
    rows = draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=1, max_size=30))
    return table_block(rows, draw(st.sampled_from(["", "Таблица 1"])), path)


@st.composite
def documents(draw: st.DrawFn) -> ParsedDocument:
    blocks: list[Block] = []
    for page in range(draw(st.integers(0, 7))):
        path = draw(HEADINGS)
        if path and draw(st.booleans()):
            looks = draw(st.sampled_from([None, (0.0, 0.0, 1.0, 1.0)]))
            blocks.append(replace(heading(*path), regions=(Region(0, page + 1, looks),)))
        for _ in range(draw(st.integers(0, 3))):
            if draw(st.integers(0, 4)) == 0:
                blocks.append(draw(table_blocks(path)))
            else:
                text = draw(WORDS)
                regions = (Region(0, page + 1, (0, 0, 1, 1)), Region(len(text) // 2 + 1, page + 2, (0, 0, 1, 2)))
                blocks.append(Block(text, draw(KINDS), path, regions))
    return ParsedDocument(tuple(blocks))


def folded(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=60, deadline=None)
@given(documents())
def test_no_text_is_lost_and_it_keeps_its_order(document: ParsedDocument) -> None:
    chunks = chunk_document(document, "a.md", count, WINDOW)
    told = [chunk.text for chunk in chunks]
    at, position = 0, 0
    for block in document.blocks:
        if block.kind == "heading":
            assert any(block.heading == c.heading[: len(block.heading)] for c in chunks)
            continue
        for piece in block.text.split():
            rest = piece
            while rest:
                # The longest start of the word that stands in this passage or a later one: a word may be cut.
                while at < len(told):
                    n = next((n for n in range(len(rest), 0, -1) if told[at].find(rest[:n], position) >= 0), 0)
                    if n and (n == len(rest) or told[at].endswith(rest[:n])):
                        break
                    at, position = at + 1, 0
                assert at < len(told), rest
                position = 0
                rest = rest[n:]


@settings(max_examples=60, deadline=None)
@given(documents())
def test_no_passage_crosses_a_heading(document: ParsedDocument) -> None:
    for chunk in chunk_document(document, "a.md", count, WINDOW):
        runs, run = [], ""
        for block in document.blocks:
            if block.kind == "heading" or block.heading != chunk.heading:
                runs.append(run)
                run = block.text if block.kind == "heading" and block.heading == chunk.heading else ""
                if block.kind == "heading":
                    runs.append(run)
                    run = ""
            else:
                run += block.text
        runs.append(run)
        body = [line for line in without_titles(chunk.text, chunk.heading).split("\n") if line.strip()]
        assert any(all(folded(line) in folded(run) for line in body) for run in runs)


@settings(max_examples=60, deadline=None)
@given(documents(), st.sampled_from([40, WINDOW, 512]))
def test_every_passage_and_every_window_of_it_fits_the_model(document: ParsedDocument, window: int) -> None:
    for chunk in chunk_document(document, "a.md", count, window):
        assert PREFIX < chunk.tokens <= window
        texts = embedding_texts(chunk, count, window)
        assert texts and max(count(texts)) <= window
        words = set(re.findall(r"\w+", chunk.text)) if not chunk.words else set()
        assert words <= set(re.findall(r"\w+", " ".join(texts)))


@settings(max_examples=60, deadline=None)
@given(documents())
def test_the_same_document_gives_the_same_passages_each_with_its_own_id(document: ParsedDocument) -> None:
    chunks = chunk_document(document, "a.md", count, WINDOW)
    assert chunks == chunk_document(document, "a.md", count, WINDOW)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))


@settings(max_examples=60, deadline=None)
@given(documents())
def test_pages_and_boxes_are_those_of_the_text(document: ParsedDocument) -> None:
    pages = {region.page for block in document.blocks for region in block.regions}
    for chunk in chunk_document(document, "a.md", count, WINDOW):
        assert {chunk.page_first, chunk.page_last} <= pages | {None}
        assert (chunk.page_first or 0) <= (chunk.page_last or 0)
        assert {box.page for box in chunk.boxes} <= set(range(chunk.page_first or 0, (chunk.page_last or 0) + 1))


@settings(max_examples=60, deadline=None)
@given(documents(), documents())
def test_an_edit_under_another_heading_changes_no_id(first: ParsedDocument, second: ParsedDocument) -> None:
    def under(document: ParsedDocument, title: str) -> tuple[Block, ...]:
        return tuple(replace(block, heading=(title, *block.heading)) for block in document.blocks)

    before = chunks_of(*under(first, "А"), *under(second, "Б"))
    after = chunks_of(*under(second, "Б"))
    assert {c.id for c in after} <= {c.id for c in before}


# What a student should see.


def test_a_section_that_fits_is_one_passage_with_its_heading_page_and_date() -> None:
    path = ("Лекция 3", "Закон Ома")
    document = ParsedDocument(
        (heading("Лекция 3"), heading(*path), Block(prose(0, 4), heading=path, regions=(Region(0, 7, (1, 2, 3, 4)),))),
        Meta(date="2024-09-02"),
    )
    (chunk,) = chunk_document(document, "физика.pdf", count, 500)
    assert chunk.text == prose(0, 4) and chunk.heading == path and chunk.date == "2024-09-02"
    assert (chunk.page_first, chunk.page_last, chunk.boxes) == (7, 7, (PageBox(7, (1, 2, 3, 4)),))
    assert keyword_text(chunk).startswith("Лекция 3 › Закон Ома\n")
    assert embedding_texts(chunk, count, 500)[0].startswith("Лекция 3 › Закон Ома\n")


def test_a_paragraph_over_a_page_break_has_the_range_of_its_pages() -> None:
    (chunk,) = chunks_of(Block("Начало и конец", regions=(Region(0, 1), Region(7, 2))))
    assert (chunk.page_first, chunk.page_last) == (1, 2)


def test_a_title_with_nothing_below_it_is_kept_as_a_passage() -> None:
    chunks = chunks_of(heading("Билеты"), heading("Билеты", "1. Теорема CAP"), heading("Билеты", "2. Индексы"))
    assert [chunk.text for chunk in chunks] == ["1. Теорема CAP", "2. Индексы"]


def test_a_long_paragraph_is_cut_between_sentences_and_repeats_the_last() -> None:
    chunks = chunks_of(heading("Динамика"), Block(prose(0, 60), heading=("Динамика",)))
    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        assert before.text.endswith(".") and after.text.startswith("Сила")
        first = after.text[: after.text.index(".") + 1]
        assert first in before.text, "the passages do not overlap"
        shared = next(
            n for n in range(min(map(len, (before.text, after.text))), 0, -1) if before.text.endswith(after.text[:n])
        )
        assert shared <= 200


def test_sections_never_overlap() -> None:
    one, two = chunks_of(
        heading("А"), Block(prose(0, 3), heading=("А",)), heading("Б"), Block(prose(3, 6), heading=("Б",))
    )
    assert one.text == prose(0, 3) and two.text == prose(3, 6)


def test_a_long_section_leaves_no_stub_at_its_end() -> None:
    for sentences in range(14, 60):
        chunks = chunks_of(*(Block(SENTENCE.format(n=n)) for n in range(sentences)))
        assert min(len(chunk.text) for chunk in chunks) > 350


def test_a_lecture_under_one_heading_is_cut_where_its_topics_change() -> None:
    blocks = [heading("Лекция 3")]
    for title in ("Авторитет и опыт", "Подмена понятий", "Табличный метод"):
        blocks.append(Block(title, heading=("Лекция 3",)))
        blocks += [Block(prose(n, n + 3), heading=("Лекция 3",)) for n in range(0, 9, 3)]
    chunks = chunks_of(*blocks)
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["Авторитет и опыт", "Подмена понятий", "Табличный метод"]


def test_a_list_stays_with_the_line_that_announces_it() -> None:
    for before in range(6, 30):
        chunks = chunks_of(
            *(Block(SENTENCE.format(n=n)) for n in range(before)),
            Block("Различают три вида аномалий:"),
            Block("- вставки\n- удаления\n- изменения", "list"),
            *(Block(SENTENCE.format(n=n)) for n in range(before, 30)),
        )
        assert any("аномалий:\n\n- вставки" in chunk.text for chunk in chunks)


def test_a_caption_stays_with_its_table() -> None:
    for before in range(6, 24):
        chunks = chunks_of(
            *(Block(SENTENCE.format(n=n)) for n in range(before)),
            Block("Таблица 5. Массы планет", "caption"),
            table_block([["Планета", "Масса"], ["Марс", "0,1"]]),
        )
        assert any("Массы планет\n\nПланета | Масса\nМарс" in chunk.text for chunk in chunks)


def test_a_code_block_that_fits_is_not_cut() -> None:
    code = "\n".join(f"    total += values[{n}] * weights[{n}]" for n in range(18))
    chunks = chunks_of(Block(prose(0, 9)), Block(code, "code"), Block(prose(9, 18)))
    assert any(code in chunk.text for chunk in chunks)


def test_a_long_table_is_cut_between_rows_and_repeats_its_caption_and_header() -> None:
    rows = [["Показатель", "2022", "2023"], *([f"Выручка отдела {n}", f"{n} млн", f"{n + 1} млн"] for n in range(120))]
    chunks = chunks_of(table_block(rows, "Выручка, руб."))
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.text.startswith("Выручка, руб.\nПоказатель | 2022 | 2023\n")
        assert all(line.count(" | ") == 2 for line in chunk.text.split("\n")[1:])
    assert [line for chunk in chunks for line in chunk.text.split("\n")[2:]] == [" | ".join(row) for row in rows[1:]]


def test_each_row_of_a_table_is_also_told_in_words() -> None:
    (chunk,) = chunks_of(
        table_block([["", "2022", "2023"], ["Выручка", "100", "120"], ["Прибыль", "—", "7"]], "млн руб.")
    )
    assert chunk.words == "Выручка, 2022: 100; 2023: 120\nПрибыль, 2023: 7"
    assert chunk.words in keyword_text(chunk) and "Выручка, 2022: 100" in "".join(embedding_texts(chunk, count, 500))


def test_an_edit_of_one_paragraph_changes_few_passages_even_without_headings() -> None:
    paragraphs = [Block(prose(n, n + 1 + n % 5)) for n in range(400)]
    before = {chunk.id for chunk in chunks_of(*paragraphs)}
    assert len(before) > 80
    for n in range(3, 400, 37):
        edited = [*paragraphs]
        edited[n] = Block(paragraphs[n].text + " Добавлено одно предложение.")
        assert len({chunk.id for chunk in chunks_of(*edited)} - before) <= 3


def test_equal_passages_have_ids_of_their_own_and_a_moved_file_has_others() -> None:
    blocks = [heading("Пример"), Block("Ответ: 5", heading=("Пример",))] * 2
    one, two = chunks_of(*blocks)
    assert one.text == two.text and one.id != two.id
    assert chunks_of(*blocks, path="другой.md")[0].id != one.id


def test_a_heading_longer_than_the_window_still_leaves_room_for_the_text() -> None:
    path = ("Очень длинный заголовок " * 40, "Глава " * 60)
    for chunk in chunks_of(Block(prose(0, 8), heading=path), window=100):
        assert chunk.heading == path and chunk.tokens <= 100
        assert max(count(embedding_texts(chunk, count, 100))) <= 100


def test_a_line_of_400_000_characters_is_cut_in_seconds() -> None:
    for text in ("ж" * 400_000, "ж\n" * 50_000, "слово " * 66_000):
        started = time.process_time()
        chunks = chunks_of(Block(text), window=512)
        assert time.process_time() - started < 10
        assert max(chunk.tokens for chunk in chunks) <= 512
        assert max(len(chunk.text) for chunk in chunks) <= 1500


def test_an_empty_document_has_no_passages() -> None:
    assert chunks_of() == [] and chunks_of(Block("  \n ")) == []


def test_a_title_told_by_its_looks_begins_the_text_that_is_shown_but_is_searched_once() -> None:
    page = (Region(0, 2, (0.0, 0.0, 9.0, 9.0)),)
    blocks = (
        Block("II. Неравенство\nЧебышева", "heading", ("II. Неравенство Чебышева",), page, level=1),
        Block("Дисперсия ограничивает отклонение.", heading=("II. Неравенство Чебышева",), regions=page),
    )
    (chunk,) = chunk_document(ParsedDocument(blocks), "a.pdf", count, 200)
    assert chunk.text.split() == ["II.", "Неравенство", "Чебышева", "Дисперсия", "ограничивает", "отклонение."]
    assert keyword_text(chunk).count("Чебышева") == 1
    assert embedding_texts(chunk, count, 200)[0].count("Чебышева") == 1


def test_a_declared_heading_stands_in_the_path_alone() -> None:
    blocks = (Block("Оптика", "heading", ("Оптика",), level=1), Block("Свет.", heading=("Оптика",)))
    (chunk,) = chunk_document(ParsedDocument(blocks), "a.md", count, 200)
    assert (chunk.heading, chunk.text) == (("Оптика",), "Свет.")
