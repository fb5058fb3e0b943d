"""PDF: text, order, headings, furniture and places."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import parsed, save, text_of, write, write_lines

from rag.errors import ParsingError, PasswordNeeded
from rag.parsing.pdf import parse_pdf
from rag.parsing.settings import ParseSettings

LEFT = [
    "Dense retrieval maps questions",
    "and passages to one space of",
    "vectors, so that a passage can",
    "be found by its meaning alone,",
    "even where no word is shared",
    "between the two of them here.",
]
RIGHT = [
    "Sparse retrieval counts words",
    "that a question and a passage",
    "share, weighs each by its use,",
    "and finds exact terms and",
    "names that a model of meaning",
    "has never seen in its training.",
]


def test_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for i, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        write(page, 72, 100 + 14 * i, left)
        write(page, 320, 100 + 14 * i, right)
    text = text_of(parsed(save(document, tmp_path)))
    assert "be found by its meaning alone, even where" in text
    assert text.index("between the two of them here.") < text.index("Sparse retrieval")


def test_the_outline_gives_headings_and_levels(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 72, 80, "Лекция 1", 11)
    write(page, 72, 110, "Линейные операторы", 11)
    write(page, 72, 140, "Оператор называется линейным, если он сохраняет сумму.", 11)
    document.set_toc([[1, "Лекция 1", 1], [2, "Линейные операторы", 1]])
    blocks = parsed(save(document, tmp_path)).blocks
    assert [(b.kind, b.level) for b in blocks] == [("heading", 1), ("heading", 2), ("paragraph", 0)]
    assert blocks[-1].heading == ("Лекция 1", "Линейные операторы")


def test_without_an_outline_size_and_numbering_make_headings(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 72, 80, "Глава 2. Оптика", 18)
    y = write_lines(page, 72, 120, ["Свет распространяется прямолинейно, и это видно", "по теням."])
    write(page, 72, y + 20, "1.2 Отражение света", 14)
    write_lines(page, 72, y + 50, ["Угол падения равен углу отражения, если зеркало гладкое,", "или у воды."])
    blocks = parsed(save(document, tmp_path)).blocks
    assert [b.text for b in blocks if b.kind == "heading"] == ["Глава 2. Оптика", "1.2 Отражение света"]
    assert blocks[-1].heading == ("Глава 2. Оптика", "1.2 Отражение света")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["методы машин-", "ного обучения"], "методы машинного обучения"),
        (["не выходили из-", "за дождя"], "не выходили из-за дождя"),
        (["это одно- и двухмерный случай", "здесь"], "одно- и двухмерный"),
        (["a time-dependent force is a time-", "dependent one"], "is a time-dependent one"),
        (["эту тему изучал ма\u00adте\u00ad", "матик"], "изучал математик"),
        (["вся наша нау-", "ка"], "вся наша наука"),
        (["a low-dimensional space beside a high-", "dimensional one"], "beside a high-dimensional one"),
    ],
)
def test_a_word_cut_at_the_line_end_is_joined_where_it_is_one(tmp_path: Path, lines: list[str], expected: str) -> None:
    document = pymupdf.open()
    write_lines(document.new_page(), 72, 100, lines)
    assert expected in text_of(parsed(save(document, tmp_path)))


def test_ligatures_become_letters_and_powers_stay_powers(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_htmlbox((72, 72, 500, 200), "<p>The scienti\ufb01c work\ufb02ow is e\ufb03cient. x² + y² = 1</p>")
    text = text_of(parsed(save(document, tmp_path)))
    assert "The scientific workflow is efficient." in text
    assert "x² + y²" in text


def test_running_headers_and_page_numbers_go_but_a_heading_at_their_height_stays(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(1, 11):
        page = document.new_page()
        write(page, 72, 40, "Глава 2. Оптика" if number == 4 else "Конспект по физике")
        write_lines(page, 72, 120, [f"Содержание листа {number} иное.", "Здесь идёт обычный текст."])
        write(page, 270, 810, f"стр. {number} из 10")
    result = parsed(save(document, tmp_path))
    text = text_of(result)
    assert text.count("Конспект по физике") <= 1
    assert "Глава 2. Оптика" in text
    assert "стр." not in text
    assert result.report.dropped["header"] > 0


def test_a_paragraph_over_a_page_break_is_one_block_with_two_places(tmp_path: Path) -> None:
    document = pymupdf.open()
    first = document.new_page()
    write_lines(
        first,
        72,
        700,
        [
            "Производная произведения двух функций равна сумме произведений каждой",
            "из них на производную другой, и это правило верно для любых двух диффе-",
        ],
    )
    write_lines(document.new_page(), 72, 80, ["ренцируемых функций одного переменного."])
    block = next(b for b in parsed(save(document, tmp_path)).blocks if "Производная" in b.text)
    assert "дифференцируемых функций" in block.text
    assert [region.page for region in block.regions] == [1, 2]
    assert block.text[block.regions[1].start :].startswith("ренцируемых")
    assert all(region.bbox for region in block.regions)


def test_boxes_are_in_points_of_the_page_as_shown(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=600, height=800)
    write(page, 72, 100, "Слово")
    page.set_rotation(90)
    block = parsed(save(document, tmp_path)).blocks[0]
    assert block.text == "Слово"
    x0, y0, x1, y1 = block.bbox or (0, 0, 0, 0)
    assert x0 < x1 <= 800
    assert y0 < y1 <= 600
    assert x0 > 650
    assert y1 - y0 > x1 - x0


def test_a_password_is_asked_for_and_an_owner_lock_is_not(tmp_path: Path) -> None:
    for name, password in (("user.pdf", "secret"), ("owner.pdf", "")):
        document = pymupdf.open()
        write(document.new_page(), 72, 100, "Текст под замком")
        save(document, tmp_path, name, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", user_pw=password)
    with pytest.raises(PasswordNeeded, match="password"):
        parsed(tmp_path / "user.pdf")
    assert "Текст под замком" in text_of(parsed(tmp_path / "owner.pdf"))


def test_a_damaged_file_and_one_over_the_limit_are_told(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and then nothing")
    with pytest.raises(ParsingError, match="no readable PDF"):
        parsed(broken)
    big = tmp_path / "big.pdf"
    big.write_bytes(b"%PDF-1.7" + bytes(2_000_000))
    with pytest.raises(ParsingError, match="limit of 1 MB"):
        parse_pdf(big, ParseSettings(max_file_mb=1))


def test_progress_counts_pages(tmp_path: Path) -> None:
    document = pymupdf.open()
    for _ in range(3):
        write(document.new_page(), 72, 100, "Лист с текстом")
    seen: list[tuple[int, int]] = []
    parse_pdf(save(document, tmp_path), ParseSettings(), lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_printed_page_labels_stand_beside_the_physical_number(tmp_path: Path) -> None:
    document = pymupdf.open()
    for text in ("Предисловие", "Оглавление", "код 333"):
        write(document.new_page(), 72, 100, text)
    labels = ({"startpage": 0, "style": "r", "firstpagenum": 1}, {"startpage": 2, "style": "D", "firstpagenum": 1})
    document.set_page_labels(list(labels))
    result = parsed(save(document, tmp_path))
    assert result.meta.page_labels == ("i", "ii", "1")
    assert next(b.page for b in result.blocks if b.text == "код 333") == 3


def test_hidden_text_is_dropped_and_counted(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write(page, 72, 100, "Видимый текст страницы")
    write(page, 72, 130, "Белым по белому", color=(1, 1, 1))
    write(page, 72, 160, "Мельчайший шрифт", size=1)
    write(page, 80, 300, "За картинкой", size=11)
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 128, 30))
    picture.clear_with(120)
    page.insert_image((72, 280, 200, 310), pixmap=picture)
    page.draw_rect((60, 400, 300, 430), fill=(0, 0, 0.5))
    write(page, 72, 420, "Белым по синему", color=(1, 1, 1))
    result = parsed(save(document, tmp_path))
    text = text_of(result)
    assert "Видимый текст" in text
    assert "Белым по синему" in text
    for hidden in ("Белым по белому", "Мельчайший", "За картинкой"):
        assert hidden not in text
    assert result.report.dropped["hidden"] >= 40


def test_a_page_that_fails_costs_that_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = pymupdf.open()
    for text in ("Первый лист", "Второй лист", "Третий лист"):
        write(document.new_page(), 72, 100, text)
    path = save(document, tmp_path)
    from rag.parsing import pdf

    whole = pdf.read_page

    def broken(page: pymupdf.Page) -> object:
        if page.number == 1:
            raise RuntimeError("cannot find object")
        return whole(page)

    monkeypatch.setattr(pdf, "read_page", broken)
    result = parsed(path)
    assert result.report.text_pages == (1, 3)
    assert result.report.suspect_pages == (2,)
    assert "Page 2" in str(result.report.warnings[0])
    assert {b.page for b in result.blocks} == {1, 3}


def test_text_drawn_twice_to_look_bold_is_read_once(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for x in (72.0, 72.4):
        write(page, x, 100, "Жирное слово")
    assert text_of(parsed(save(document, tmp_path))).count("Жирное") == 1


def test_a_page_turned_on_its_side_reads_in_order(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=500, height=700)
    for i, line in enumerate(["Первая строка поперёк", "вторая строка поперёк"]):
        page.insert_htmlbox((100 + 30 * i, 100, 130 + 30 * i, 600), f"<p>{line}</p>", rotate=90)
    text = text_of(parsed(save(document, tmp_path)))
    assert text.index("Первая") < text.index("вторая")


def test_footnotes_follow_the_text_of_their_page(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    write_lines(page, 72, 100, ["Рассмотрим преобразование, которое мы уже видели раньше при изучении"])
    write(page, 72, 780, "1) Оно названо по имени Лапласа.", size=8)
    write_lines(document.new_page(), 72, 80, ["функций комплексного переменного.", "Дальше идёт новый текст."])
    blocks = parsed(save(document, tmp_path)).blocks
    assert "при изучении функций комплексного" in blocks[0].text
    assert [b.kind for b in blocks].index("note") == 1


def test_a_lecture_is_named_by_course_and_date_of_its_running_header(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in (1, 2):
        page = document.new_page()
        write(page, 56, 40, "Теория вероятности")
        write(page, 280, 40, "10.09.2024")
        write(page, 420, 40, "Лекции Иванова И. И.")
        if number == 1:
            write(page, 56, 90, "Лекция 2", 17)
        write_lines(page, 56, 130, [f"Текст листа {number} о событиях и их вероятностях."])
    result = parsed(save(document, tmp_path))
    assert result.meta.title == "Теория вероятности. Лекция 2"
    assert (result.meta.date, result.meta.date_source) == ("2024-09-10", "text")
    assert result.meta.author == "Иванова И. И."
    assert result.blocks[-1].heading == ("Теория вероятности", "Лекция 2")
    assert "10.09.2024" not in text_of(result)


def test_a_page_that_is_there_twice_loses_nothing(tmp_path: Path) -> None:
    document = pymupdf.open()
    for _ in range(2):
        page = document.new_page()
        write(page, 72, 50, "Уважаемые студенты!")
        write_lines(page, 72, 120, ["Зачёт будет в пятницу."])
    assert text_of(parsed(save(document, tmp_path))).count("Уважаемые студенты!") == 2


def test_a_words_halves_do_not_speak_for_a_hyphen(tmp_path: Path) -> None:
    document = pymupdf.open()
    write_lines(document.new_page(), 72, 100, ["First of all we will demon-", "strate what these terms mean"])
    assert "will demonstrate what" in text_of(parsed(save(document, tmp_path)))
