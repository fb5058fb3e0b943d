"""The check of generated sentences: facts in any spelling, opposites, swapped citations, and its figures on written
pairs."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.answering.contradiction import opposed
from rag.answering.evidence import evidence
from rag.answering.facts import facts
from rag.answering.names import same_name
from rag.answering.numerals import numbers
from rag.answering.tidying import tidy_marks
from rag.answering.verification import Claim, Finding, check, claims_of, missing_facts
from rag.models.embedding import load_embedder
from rag.protocols import Embedder, Vectors

DATA = Path(__file__).parent / "data"


def finding(sentence: str, *passages: str, cited: tuple[int, ...] = (1,)) -> Finding:
    return check([Claim(sentence, cited)], evidence([("", passage) for passage in passages], None), None)[0]


def missing(sentence: str, *passages: str) -> list[str]:
    spans = missing_facts(sentence, evidence([("", passage) for passage in passages], None))
    return [sentence[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("1 577 рублей", "1,577.00"),
        ("1577", "1\u00a0577 руб."),
        ("1.577,5", "1 577,5"),
        ("3,14", "3.14"),
        ("пять", "5"),
        ("двадцать пять человек", "25 человек"),
        ("в XIX веке", "19 век"),
        ("19th century", "XIX век"),
        ("2 млн", "2 000 000"),
        ("1.5 million", "1 500 000"),
        ("½", "0,5"),
        ("5 мая", "05.05"),
        ("05.05.1945", "5 мая 1945 года"),
        ("May 5, 1945", "5 мая 1945"),
        ("5th of May", "5 May"),
        ("1990-х", "1990"),
        ("$E = mc^2$", "E = mc²"),
        ("a ≤ b", r"$a \leq b$"),
        ("H₂O", "H2O"),
        ("SHA256", "SHA-256"),
        ("Брюером", "Брюер"),
        ("Brewer", "Эрик Брюер"),
    ],
)
def test_a_fact_is_found_in_whatever_spelling(written: str, stands: str) -> None:
    sentence = f"Известно, что это {written} по записям."
    assert facts(sentence)
    assert missing(sentence, f"По записям известно: {stands} и ещё 777.") == []


@pytest.mark.parametrize(
    ("written", "stands"),
    [
        ("1 578", "1,577.00"),
        ("шесть", "5"),
        ("в XVIII веке", "19 век"),
        ("2 млн", "2 000"),
        ("6 мая", "05.05"),
        ("5 июня", "05.05"),
        ("05.05.1944", "5 мая 1945 года"),
        ("$E = mc^3$", "E = mc²"),
        ("SHA-512", "SHA-256"),
        ("Дейтом", "Брюер"),
        ("Codd", "Эрик Брюер"),
    ],
)
def test_an_altered_fact_is_missing(written: str, stands: str) -> None:
    assert missing(f"Известно, что это {written} по записям.", f"По записям известно: {stands} и ещё 777.")


def test_numbers_are_read_with_their_scale_and_as_words() -> None:
    found = {
        str(value) for number in numbers("сто двадцать пять, 3,5 млрд и две тысячи двадцать") for value in number.values
    }
    assert found == {"125", "3500000000", "2020"}


def test_articles_and_pronouns_are_no_numbers() -> None:
    assert numbers("one of them, один из них, I may go") == []


def test_a_number_of_something_else_in_the_passage_is_caught() -> None:
    passage = "The team had 24 interceptions and 11 sacks."
    assert missing("The team had 24 interceptions.", passage) == []
    assert missing("The team had 11 interceptions.", passage) == ["11"]


def test_a_year_of_another_sentence_is_caught() -> None:
    passage = "Третью форму Кодд ввёл в 1971 году. Бойс описал четвёртую в 1974 году."
    assert missing("Третью форму Кодд ввёл в 1974 году.", passage) == ["1974"]


def test_another_name_at_the_start_of_the_sentence_is_caught() -> None:
    assert missing("Denmark gained Western Pomerania.", "Sweden gained Western Pomerania.") == ["Denmark"]
    assert missing("Pomerania was gained.", "Sweden gained Pomerania, which was rich.") == []


@pytest.mark.parametrize(
    ("claim", "stretch"),
    [
        ("Индекс не ускоряет поиск.", "Индекс ускоряет поиск."),
        ("The stone has never been in London.", "The stone has been in London."),
        ("При движении часы идут быстрее.", "При движении часы идут медленнее."),
        ("The rate was raised.", "The rate was lowered."),
        ("Срока давности нет.", "Срок давности два года."),
    ],
)
def test_the_opposite_is_not_supported(claim: str, stretch: str) -> None:
    assert opposed(claim, stretch)
    assert finding(claim, stretch).verdict != "supported"


def test_not_only_is_no_negation() -> None:
    assert not opposed("Он хранит не только ключи.", "Он хранит ключи и значения.")


@pytest.mark.parametrize(
    ("sentence", "passage", "marked"),
    [
        ("Лизосомы вырабатывают АТФ.", "Митохондрии вырабатывают АТФ. Лизосомы расщепляют отходы.", "Лизосомы"),
        ("Избыток углеводов печень превращает в белок.", "Избыток углеводов печень превращает в жир.", "белок"),
        ("Печень выделяет инсулин и глюкагон.", "Поджелудочная железа выделяет инсулин и глюкагон.", "Печень"),
        ("The kidney stores glycogen.", "The liver stores glycogen.", "kidney"),
        ("Oxygen binds to haemoglobin in the liver.", "Oxygen binds to haemoglobin in the lungs.", "liver"),
        ("The jury sets the sentence.", "The jury decides on guilt, and the judge sets the sentence.", "jury"),
        ("It speeds up writing but slows down reading.", "It speeds up reading but slows down writing.", "writing"),
        ("Кнут предложил быструю сортировку.", "Быструю сортировку предложил Тони Хоар.", "Кнут"),
        ("Einstein formulated the CAP theorem.", "The CAP theorem was formulated by Eric Brewer.", "Einstein"),
        ("Герцен открыл фотоэффект в 1887 году.", "Фотоэффект открыл Герц в 1887 году.", "Герцен"),
    ],
)  # fmt: skip
def test_one_noun_or_name_in_the_place_of_another_is_caught(sentence: str, passage: str, marked: str) -> None:
    assert marked in missing(sentence, passage)
    assert finding(sentence, passage).verdict != "supported"


@pytest.mark.parametrize(
    ("sentence", "passage"),
    [
        ("Митохондрии производят АТФ.", "Митохондрии вырабатывают АТФ."),
        ("The liver keeps glycogen.", "The liver stores glycogen."),
        ("Людям нужен йод и витамин.", "Человеку нужен йод и витамин."),
        ("Мьютекс захватывает только один поток.", "Мьютекс — это замок. Этот объект захватывает только один поток."),
        ("Гюйгенс считал свет волной.", "Ньютон считал свет потоком частиц, Гюйгенс — волной."),
        ("The prosecutor brings the charge.", "The prosecutor and the police bring the charge."),
        ("Алгоритм быстрой сортировки предложил Хоар.", "Быструю сортировку предложил Тони Хоар."),
        ("Брюер сформулировал теорему CAP.", "Теорему CAP сформулировал Эрик Брюер."),
        ("Гипофиз лежит в турецком седле.", "Гипофиз — железа массой 0,5 г, лежит в турецком седле."),
    ],
)
def test_the_same_in_other_words_is_no_replacement(sentence: str, passage: str) -> None:
    assert missing(sentence, passage) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Пушкиным", "Пушкина"),
        ("Москве", "Москва"),
        ("Newton's", "Newton"),
        ("Turing", "Тьюринг"),
        ("Павле", "Павел"),
        ("Льва", "Лев"),
        ("Норманнов", "норманны"),
        ("Соединённые", "Соединённых"),
    ],
)
def test_a_name_is_known_in_other_cases_and_scripts(one: str, other: str) -> None:
    assert same_name(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Гаусс", "Галуа"),
        ("Пушкин", "Пущин"),
        ("Codd", "Брюер"),
        ("Ом", "Он"),
        ("Герц", "Герцен"),
        ("Иван", "Иванов"),
        ("Павел", "Павлов"),
    ],
)
def test_other_names_are_other_names(one: str, other: str) -> None:
    assert not same_name(one, other)


def test_marks_after_the_full_stop_belong_to_the_sentence_before() -> None:
    text = tidy_marks("Первое. [1] Второе[2]. Третье. [1] [3]\nЧетвёртое.")
    assert text == "Первое [1]. Второе [2]. Третье [1][3].\nЧетвёртое."
    cited = [(text[start:end], numbers) for start, end, numbers in claims_of(text)]
    assert cited == [("Первое [1].", (1,)), ("Второе [2].", (2,)), ("Третье [1][3].", (1, 3)), ("Четвёртое.", ())]


def test_a_sentence_without_marks_takes_those_that_follow_in_its_paragraph() -> None:
    assert [numbers for _, _, numbers in claims_of("Одно. Другое [2].\nТретье.")] == [(2,), (2,), ()]


def test_a_sentence_may_join_two_passages() -> None:
    passages = ("Хоар предложил быструю сортировку.", "Быстрая сортировка появилась в 1960 году.")
    assert finding("Хоар предложил быструю сортировку в 1960 году.", *passages, cited=(1, 2)).verdict == "supported"


class Across:
    """Stands for a model that sees a translation: the cosines measured for right and for made-up sentences."""

    def embed_passages(self, texts: list[str]) -> Vectors:
        cosine = {"Log segments are 16 MB by default.": 0.88, "Logs are kept in the cloud.": 0.79}
        rows = [(1.0, 0.0) if text not in cosine else (cosine[text], (1 - cosine[text] ** 2) ** 0.5) for text in texts]
        return np.array(rows, np.float32)


def test_a_translated_sentence_is_judged_by_meaning_and_by_its_numbers() -> None:
    passage = "По умолчанию сегмент журнала занимает 16 МБ."
    across = Across()
    passages = evidence([("", passage)], across)  # type: ignore[arg-type]
    claims = [Claim("Log segments are 16 MB by default.", (1,)), Claim("Logs are kept in the cloud.", (1,))]
    verdicts = [found.verdict for found in check(claims, passages, across)]  # type: ignore[arg-type]
    assert verdicts == ["supported", "not found"]


def _pairs(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def _by_kind(pairs: list[dict[str, Any]], embedder: Embedder | None) -> defaultdict[str, list[bool]]:
    """Whether each pair was judged as it should be, by its kind."""
    by_kind: defaultdict[str, list[bool]] = defaultdict(list)
    for pair in pairs:
        passages = evidence([("", passage) for passage in pair["passages"]], embedder)
        found = check([Claim(pair["sentence"], tuple(pair["cited"]))], passages, embedder)[0]
        supported = found.verdict == "supported"
        if pair["kind"] == "swapped citation":
            by_kind[pair["kind"]].append(supported and found.cited == (2,))
        else:
            by_kind[pair["kind"]].append(supported == (pair["kind"] in ("right", "paraphrase")))
    return by_kind


def _shares(pairs: list[dict[str, Any]], embedder: Embedder | None) -> tuple[float, float, float]:
    """Shares: wrong sentences caught, right ones wrongly marked, altered numbers caught."""
    by_kind = _by_kind(pairs, embedder)
    right = by_kind.pop("right") + by_kind.pop("paraphrase")
    altered = [ok for results in by_kind.values() for ok in results]
    return sum(altered) / len(altered), 1 - sum(right) / len(right), sum(by_kind["number"]) / len(by_kind["number"])


@pytest.mark.parametrize("name", ["verification.jsonl", "verification_held_out.jsonl"])
def test_words_alone_catch_what_is_wrong_and_spare_what_is_right(name: str) -> None:
    caught, marked, numbers_caught = _shares(_pairs(name), None)
    assert caught >= 0.95
    assert marked <= 0.08
    assert numbers_caught == 1


def test_words_alone_catch_most_replaced_nouns_and_spare_other_verbs() -> None:
    for name, least in (("verification_nouns.jsonl", 0.9), ("verification_nouns_held_out.jsonl", 0.75)):
        by_kind = _by_kind(_pairs(name), None)
        assert sum(by_kind["noun"]) / len(by_kind["noun"]) >= least
        assert sum(by_kind["paraphrase"]) / len(by_kind["paraphrase"]) >= 0.95


class Remembering:
    """Embeds every text once, all of them in one batch: pairs share their passages."""

    def __init__(self, embedder: Embedder, texts: list[str]) -> None:
        self._rows = dict(zip(texts, embedder.embed_passages(texts), strict=True))

    def embed_passages(self, texts: list[str]) -> Vectors:
        return np.stack([self._rows[text] for text in texts])


@pytest.mark.timeout(900)  # the model is unpacked and loaded first
def test_with_the_bundled_model_it_catches_what_is_wrong_and_spares_what_is_right(models: Path) -> None:
    pairs = _pairs("verification_held_out.jsonl")
    cut = [
        text
        for pair in pairs
        for passage in evidence([("", p) for p in pair["passages"]], None)
        for text in passage.texts
    ]
    texts = list(dict.fromkeys(cut + [pair["sentence"] for pair in pairs]))
    embedder = Remembering(load_embedder("bundled", models, ""), texts)
    caught, marked, numbers_caught = _shares(pairs, embedder)  # type: ignore[arg-type]
    assert caught >= 0.95
    assert marked <= 0.08
    assert numbers_caught == 1
