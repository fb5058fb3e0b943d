"""The retriever over fakes of model and store: order, places, parts, and questions that hold nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

import pytest
from fakes import MemoryStore, WordEmbedder

from rag.chunking import keyword_text
from rag.retrieval import Retriever
from rag.retrieval.asking import understand
from rag.retrieval.exact import PHRASE_LIFT, lifted, names_unknown_figure
from rag.retrieval.fusion import Candidate
from rag.retrieval.keywords import KeywordIndex
from rag.retrieval.questions import sub_questions, without_instructions
from rag.retrieval.words import tokens, written_in_cyrillic
from rag.types import Chunk, Mode, SearchResult

MODES: tuple[Mode, ...] = get_args(Mode)

OPTICS = {
    "refraction.md": [
        "Показатель преломления воды равен 1,33.",
        "Закон Снеллиуса связывает углы падения и преломления.",
    ],
    "lens.md": ["Тонкая линза собирает лучи в фокусе.", "Оптическая сила измеряется в диоптриях."],
    "heat.md": ["Тепловой двигатель превращает теплоту в работу.", "КПД цикла Карно зависит от температур."],
    "biology.md": ["Фотосинтез идёт в хлоропластах на свету.", "Митохондрии дают клетке энергию."],
}


class Notes:
    """A library in memory: passages by file, with the retriever over them."""

    def __init__(self, files: Mapping[str, Sequence[str | Chunk]], reranker: object = None) -> None:
        self.chunks: dict[str, Chunk] = {}
        self.embedder, self.store, self.keywords = WordEmbedder(), MemoryStore(), KeywordIndex()
        for path, passages in files.items():
            self.put(path, passages)
        self.retriever = Retriever(self.embedder, self.store, self.keywords, self.by_id, reranker)

    def put(self, path: str, passages: Sequence[str | Chunk]) -> None:
        chunks = [
            p if isinstance(p, Chunk) else Chunk(f"{path}-{n}", path, n, p, (path.partition(".")[0],))
            for n, p in enumerate(passages)
        ]
        self.chunks.update({chunk.id: chunk for chunk in chunks})
        self.keywords.replace(path, [(chunk.id, tokens(keyword_text(chunk))) for chunk in chunks])
        if chunks:
            vectors = self.embedder.embed_passages([keyword_text(chunk) for chunk in chunks])
            ids = [chunk.id for chunk in chunks]
            self.store.add([f"{i}-0" for i in ids], vectors, ids, [path] * len(ids))

    def by_id(self, ids: Sequence[str]) -> dict[str, Chunk]:
        return {i: self.chunks[i] for i in ids if i in self.chunks}

    def ask(self, question: str, k: int = 3, mode: Mode = "hybrid", **options: object) -> SearchResult:
        return self.retriever.search(question, k, mode, **options)  # type: ignore[arg-type]

    def files(self, question: str, k: int = 3, mode: Mode = "hybrid") -> list[str]:
        return [hit.chunk.path for hit in self.ask(question, k, mode).hits]


@pytest.fixture(scope="module")
def optics() -> Notes:
    return Notes(OPTICS)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_passage_and_tells_how(optics: Notes, mode: Mode) -> None:
    result = optics.ask("Чему равен показатель преломления воды?", mode=mode)
    best = result.hits[0]
    assert best.chunk.text.startswith("Показатель преломления воды")
    assert result.mode == mode
    assert best.score > 0
    assert (best.dense_rank == 1) == (mode != "keyword")
    assert (best.keyword_rank == 1) == (mode != "dense")
    assert (best.dense is None) == (mode == "keyword")


def test_other_cases_of_a_word_are_first_by_keyword(optics: Notes) -> None:
    best = optics.ask("теплового двигателя", mode="keyword").hits[0]
    assert best.chunk.text.startswith("Тепловой двигатель")
    assert best.keyword_rank == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question", ["и в на что это", "what is the", "???", "🙂", "слово " * 1000, "«»", "\x00", "the the", "-"]
)
def test_a_question_that_says_nothing_breaks_nothing(optics: Notes, mode: Mode, question: str) -> None:
    result = optics.ask(question, mode=mode)
    assert len(result.hits) <= 3
    assert all(hit.keyword_rank is None for hit in result.hits)
    if mode == "keyword":
        assert not result.hits
        assert result.refused


@pytest.mark.parametrize("mode", MODES)
def test_libraries_of_no_one_and_two_notes_are_searched(mode: Mode) -> None:
    assert Notes({}).ask("закон Ома", mode=mode).hits == ()
    assert Notes({"blank.md": []}).ask("закон Ома", mode=mode).refused
    one = Notes({"a.md": ["Закон Ома связывает ток и напряжение."]})
    assert [hit.score > 0 for hit in one.ask("закон Ома", mode=mode).hits] == [True]
    two = Notes({"a.md": ["Закон Ома."], "b.md": ["Закон Ома и много других слов про цепи и токи в проводниках."]})
    hits = two.ask("закон Ома", mode=mode).hits
    assert hits[0].chunk.path == "a.md"
    assert hits[0].score > 0


def test_filters_are_applied_before_candidates_are_cut(optics: Notes) -> None:
    hits = optics.ask("показатель преломления воды", paths=["biology.md"]).hits
    assert {hit.chunk.path for hit in hits} == {"biology.md"}
    assert optics.ask("показатель преломления воды", paths=[]).hits == ()
    assert optics.ask("показатель преломления воды", paths=[]).refused


def test_the_same_paragraph_in_fifty_files_takes_one_place() -> None:
    text = "Закон Ома связывает ток, напряжение и сопротивление участка цепи."
    copies = {f"copy{n:02}.md": [text] for n in range(50)}
    notes = Notes({**copies, "other.md": ["Закон Джоуля о теплоте тока."], **OPTICS})
    hits = notes.ask("закон Ома для участка цепи").hits
    assert [hit.chunk.text for hit in hits].count(text) == 1
    assert sorted([hits[0].chunk.path, *hits[0].same_in]) == sorted(copies)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("copies", [50, 150, 450])
def test_a_paragraph_copied_more_often_than_there_are_candidates_leaves_room_for_others(
    mode: Mode, copies: int
) -> None:
    text = "Закон Ома связывает ток, напряжение и сопротивление участка цепи."
    others = ["Закон Джоуля и ток: теплота участка цепи.", "Закон Кирхгофа: сумма токов узла цепи."]
    one_file = [Chunk(f"c{n}", "copies.md", n, text, ("Цепь",)) for n in range(copies)]
    notes = Notes({"copies.md": one_file, "other.md": others, **OPTICS})
    hits = notes.ask("закон Ома для участка цепи", mode=mode).hits
    assert [hit.chunk.text for hit in hits].count(text) == 1
    assert len({hit.chunk.text for hit in hits}) == 3


def test_a_filter_that_leaves_little_is_not_searched_again_and_again(optics: Notes) -> None:
    asked: list[int] = []
    query = optics.store.query
    optics.store.query = lambda vector, n, paths=None: asked.append(n) or query(vector, n, paths)  # type: ignore[method-assign]
    try:
        assert len(optics.ask("свет", paths=["biology.md"], k=20).hits) == 2
    finally:
        optics.store.query = query  # type: ignore[method-assign]
    assert len(asked) == 1


def test_near_duplicates_share_a_place_but_another_number_is_another_passage() -> None:
    base = (
        "В сессию студенты факультета сдают экзамены по математическому анализу, линейной алгебре, физике, "
        "программированию и истории, а зачёты по английскому языку и физкультуре в срок до {} января"
    )
    files = {"a.md": [base.format(20) + "."], "b.md": [base.format(20)], "c.md": [base.format(25) + "."]}
    notes = Notes({**files, **OPTICS})
    found = {hit.chunk.path for hit in notes.ask("экзамены в сессию до января").hits}
    assert found >= {"a.md", "c.md"}
    assert "b.md" not in found


EXAMINER = (
    "Экзамен по механике принимает {}, и студенты первого курса всех групп приходят на него с зачётными книжками, "
    "конспектами лекций, решёнными задачами и отчётами о лабораторных работах, сданными {} преподавателям"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("профессор Петров", "своим"), ("профессор Иванов", "своим")),
        (("доцент", "в срок своим"), ("ассистент", "в срок своим")),
    ],
)
def test_another_name_in_the_place_of_one_is_another_passage(one: tuple[str, str], other: tuple[str, str]) -> None:
    notes = Notes({"a.md": [EXAMINER.format(*one)], "b.md": [EXAMINER.format(*other)], **OPTICS})
    assert {"a.md", "b.md"} <= set(notes.files("Кто принимает экзамен по механике?"))


@pytest.mark.parametrize(
    "again",
    [
        EXAMINER.format("профессор Петров", "своим").replace("приходят", "прнходят"),
        EXAMINER.format("профессор Петров", "своим").replace("лекций, ", "«лекций» "),
        EXAMINER.format("профессор Петров", "своим") + " лично",
    ],
    ids=["misread letter", "punctuation", "a word more"],
)
def test_a_text_told_twice_with_a_slip_is_one_passage(again: str) -> None:
    text = EXAMINER.format("профессор Петров", "своим")
    found = Notes({"a.md": [text], "b.md": [again], **OPTICS}).files("Кто принимает экзамен по механике?")
    assert len({"a.md", "b.md"} & set(found)) == 1


def test_one_section_cut_in_pieces_leaves_room_for_another_file() -> None:
    pieces = [
        Chunk(f"long-{n}", "long.md", n, f"Инерция тела: масса и скорость, часть номер {word}.", ("Инерция",))
        for n, word in enumerate(["первая", "вторая", "третья", "четвёртая"])
    ]
    notes = Notes({"long.md": pieces, "short.md": ["Инерция тела зависит от массы."], **OPTICS})
    assert "short.md" in notes.files("инерция тела масса")


def test_a_comparison_gives_each_side_its_passage() -> None:
    notes = Notes(
        {
            "raid1.md": ["RAID 1 зеркалирует диски."] + [f"RAID 1: свойство {n} зеркала дисков." for n in "абвг"],
            "raid5.md": ["RAID 5 хранит чётность на всех дисках."],
            **OPTICS,
        }
    )
    result = notes.ask("Чем RAID 1 отличается от RAID 5?")
    assert result.sub_questions == ("RAID 1", "RAID 5")
    assert {"raid1.md", "raid5.md"} <= {hit.chunk.path for hit in result.hits}


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Чем скрам отличается от канбана?", ["скрам", "канбана"]),
        ("В чём разница между TCP и UDP?", ["TCP", "UDP"]),
        ("Сравни мьютекс и семафор", ["мьютекс", "семафор"]),
        ("В чём расходятся Кант и Юм насчёт причинности?", ["насчёт причинности Кант", "насчёт причинности Юм"]),
        ("Чем RAID 1 отличается от RAID 5 по надёжности?", ["по надёжности RAID 1", "по надёжности RAID 5"]),
        ("What is the difference between TCP and UDP?", ["TCP", "UDP"]),
        ("How does Go differ from Rust?", ["Go", "Rust"]),
        ("Compare stacks with queues", ["stacks", "queues"]),
        ("mutex vs semaphore", ["mutex", "semaphore"]),
        ("What changed between 2021 and 2023?", ["What changed 2021", "What changed 2023"]),
        ("Что изменилось между 2021 и 2023 годом?", ["Что изменилось 2021", "Что изменилось 2023"]),
        ("Что такое тензор? Где применяют тензоры?", ["Что такое тензор?", "Где применяют тензоры?"]),
        ("Что такое энтропия? Кто её ввёл?", ["Что такое энтропия?", "Что такое энтропия? Кто её ввёл?"]),
        ("Как устроен процессор?", []),
        ("Сколько этапов открыли с 1980 по 1984 год?", []),
        ("Соль и перец?", []),
        ("", []),
    ],
)
def test_questions_are_taken_apart_only_where_they_name_two_things(question: str, parts: list[str]) -> None:
    assert sub_questions(question) == parts


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the margin? If it is not useful, then say so.", "What is the margin?"),
        ("Какой у воды показатель преломления? Ответь кратко.", "Какой у воды показатель преломления?"),
        ("У меня батарея на 9 В. Какое напряжение на ключе?", "У меня батарея на 9 В. Какое напряжение на ключе?"),
        ("Объясни теорему Гаусса.", "Объясни теорему Гаусса."),
        ("What is the margin? Round to two digits.", "What is the margin?"),
        ("Answer in one word. Is it a metal?", "Answer in one word. Is it a metal?"),
        ("Answer in one word. What is bronze?", "What is bronze?"),
        (
            "Round robin is a scheduler. What is the quantum?",
            "Round robin is a scheduler. What is the quantum?",
        ),
        ("Write-ahead logging exists. What for?", "Write-ahead logging exists. What for?"),
        ("Use case diagrams are UML. Who draws one?", "Use case diagrams are UML. Who draws one?"),
    ],
)
def test_instructions_to_the_answerer_are_not_searched_for(question: str, asked: str) -> None:
    assert without_instructions(question) == asked


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("фотосинтес", "biology.md"),
        ("что такое фатосинтез", "biology.md"),
        ("zachem nuzhen teplovoy dvigatel", "heat.md"),
        ("ntgkjdjq ldbufntkm", "heat.md"),
        ("диоптриии", "lens.md"),
        ("пше stash", "git.md"),
        ("Биржан-сал", "opera.md"),
    ],
)
def test_typos_transliteration_and_the_wrong_layout_find_the_passage(question: str, file: str) -> None:
    more = {"git.md": ["Команда git stash прячет правки."], "opera.md": ["Опера «Биржан и Сара» Тулебаева."]}
    notes = Notes({**OPTICS, **more})
    assert notes.files(question, mode="keyword")[0] == file


def test_a_quoted_phrase_stands_before_the_same_words_apart() -> None:
    notes = Notes(
        {
            "apart.md": ["Ящик стоит в углу, чёрный кот сидит на нём: ящик закрыт, кот чёрный."],
            "together.md": ["В самолёте есть устройство, которое называют чёрный ящик, оно пишет параметры полёта."],
            **OPTICS,
        }
    )
    assert notes.files("Где говорится про «чёрный ящик»?")[0] == "together.md"


def test_a_quoted_word_is_no_part_of_another() -> None:
    chunk = Chunk("a", "a.md", 0, "Которое вещество проводит ток?")
    other = Chunk("b", "b.md", 0, "Ловит мышей кот, а не собака.")
    asked = understand("«кот»", KeywordIndex())
    order = lifted([Candidate("a", 0.1), Candidate("b", 0.1)], asked, KeywordIndex(), {"a": chunk, "b": other})
    assert [(c.chunk_id, c.score) for c in order] == [("b", pytest.approx(0.1 + PHRASE_LIFT)), ("a", 0.1)]


def test_a_rare_code_is_first_whatever_the_other_words_are_like() -> None:
    files = {f"lease{n}.md": [f"Учёт аренды по стандарту: обязательства и актив, вариант {n}."] for n in range(8)}
    notes = Notes({**files, "ifrs.md": ["IFRS 16 вступил в силу в 2019 году."]})
    assert notes.files("Как учитывать обязательства аренды по IFRS 16?")[0] == "ifrs.md"


def test_ten_runs_give_the_same_hits_and_scores(optics: Notes) -> None:
    runs = [optics.ask("преломление света и тепловой двигатель") for _ in range(10)]
    assert all(run == runs[0] for run in runs)


def test_two_processes_give_the_same_hits_and_scores() -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests'); from test_retrieval import Notes, OPTICS; "
        "print(Notes(OPTICS).ask('преломление света и тепловой двигатель'))"
    )
    root = Path(__file__).parent.parent
    outs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outs) == 1


def test_a_changed_library_is_searched_as_it_is_now(optics: Notes) -> None:
    notes = Notes({"a.md": ["Закон Ома."]})
    assert notes.files("закон Ома") == ["a.md"]
    notes.put("b.md", ["Закон Ома для полной цепи, подробно."])
    assert set(notes.files("закон Ома")) == {"a.md", "b.md"}


class Preferring:
    """A reranker that wants one word."""

    name = "preferring"

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[int] = []

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        self.asked.append(len(passages))
        return [float(self.word in passage) for passage in passages]


def test_a_reranker_reorders_and_its_score_is_told_only_when_asked() -> None:
    reranker = Preferring("Снеллиуса")
    notes = Notes(OPTICS, reranker)
    plain = notes.ask("преломление")
    assert not reranker.asked
    assert all(hit.rerank is None for hit in plain.hits)
    best = notes.ask("преломление", rerank=True).hits[0]
    assert "Снеллиуса" in best.chunk.text
    assert best.rerank == 1.0


class Hearing:
    """A reranker that remembers the questions it was asked."""

    name = "hearing"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        self.asked.append(question)
        return [0.5] * len(passages)


@pytest.mark.parametrize("question", ["njyrfz kbypf", "tonkaya linza"])
def test_what_was_typed_in_another_layout_is_told_as_it_was_read_and_judged_so(question: str) -> None:
    hearing = Hearing()
    result = Notes(OPTICS, hearing).ask(question, rerank=True)
    assert result.query == question
    assert result.reading == "тонкая линза"
    assert hearing.asked == ["тонкая линза"]


def test_a_question_that_is_read_as_it_stands_has_no_other_reading(optics: Notes) -> None:
    assert optics.ask("тонкая линза").reading == ""


def test_a_comparison_in_the_wrong_layout_is_taken_apart() -> None:
    notes = Notes({"a.md": ["Скрам ставит сроки."], "b.md": ["Канбан ограничивает работу."], **OPTICS})
    assert notes.ask("xtv crhfv jnkbxftncz jn rfy,fyf").sub_questions == ("скрам", "канбана")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("question", ["🚀", "🎓🎓", "→", "…"])
def test_a_question_without_words_has_no_answer(optics: Notes, mode: Mode, question: str) -> None:
    result = optics.ask(question, mode=mode)
    assert result.refused
    assert result.confidence == 0.0


@pytest.mark.parametrize("mode", MODES)
def test_a_figure_that_stands_nowhere_is_no_answer(mode: Mode) -> None:
    notes = Notes({"a.md": ["Курс CS-101 читают осенью.", "Прибыль за 2021 год выросла."], **OPTICS})
    assert not notes.ask("курс CS-101 читают осенью", mode=mode).refused
    for question in ("курс CS-102 читают осенью", "Прибыль за 2024 год выросла"):
        result = notes.ask(question, mode=mode)
        assert result.refused, question
        assert result.hits


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("курс CS-101", False),
        ("курс CS-102", True),
        ("курс CS101", False),
        ("RAID5", False),
        ("RAID 5", False),
        ("RAID-6", True),
        ("Прибыль FY2021", False),
        ("Прибыль FY2024", True),
        ("Прибыль FY20", False),
        ("Что было в 2021 году?", False),
        ("Что было в 2024 году?", True),
        ("Что было в 1998-м?", True),
        ("12000 бросков", False),
        ("12 000 бросков", False),
        ("Сколько будет 3,14 на 999?", False),
        ("p99 и x2", True),
        ("H2O", True),
        ("", False),
    ],
)
def test_years_and_codes_that_stand_nowhere_are_told(question: str, unknown: bool) -> None:
    index = KeywordIndex()
    index.replace("a.md", [("a", tokens("Курс CS-101. RAID 5 хранит чётность. Прибыль за 2021 год."))])
    assert names_unknown_figure(question, index) is unknown


def test_the_confidence_is_that_of_the_library_as_it_is() -> None:
    grown = Notes(OPTICS)
    question = "Что связывает закон Снеллиуса?"
    grown.ask(question)
    grown.put("new.md", ["Протон и нейтрон составляют ядро атома."])
    assert grown.ask(question) == Notes({**OPTICS, "new.md": ["Протон и нейтрон составляют ядро атома."]}).ask(question)


def test_another_reranker_can_take_its_place(optics: Notes) -> None:
    other = optics.retriever.with_reranker(Preferring("Карно"))
    assert "Карно" in other.search("температура двигателя", rerank=True).hits[0].chunk.text


def test_formulas_do_not_make_a_note_foreign() -> None:
    assert written_in_cyrillic("Неравенство Чебышёва: $$P(|X - EX| >= a) <= DX / a^2, a > 0, X ~ F, E X = m$$")
    assert not written_in_cyrillic("SELECT name FROM users WHERE id = 1 -- имя")
    assert written_in_cyrillic("Я и мы")
    assert written_in_cyrillic("Как устроен MVCC в PostgreSQL?")
    assert not written_in_cyrillic("What does Чебышёв prove about the variance of a random variable?")
    assert not written_in_cyrillic("???")
    assert not written_in_cyrillic("a + b = c")


def test_a_misspelt_name_that_the_notes_hold_is_not_lacking() -> None:
    notes = Notes({"p.md": ["Неравенство Чебышёва оценивает вероятность отклонения.", "Закон больших чисел."]})
    seen = notes.retriever.evidence("Что оценивает неравенство Чебышовой?")
    foreign = notes.retriever.evidence("Что оценивает неравенство Йенсена?")
    assert seen is not None
    assert foreign is not None
    assert seen.lacking == 0
    assert foreign.lacking > 0
