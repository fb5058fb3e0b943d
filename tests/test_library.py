"""The library as a whole, over real parts with a quick embedder: what goes in is found, what goes is not."""

from __future__ import annotations

import io
import sqlite3
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag.errors import EmbeddingError, QuestionError, SettingsError, StoreError
from rag.library import Library
from rag.messages import Message, msg
from rag.protocols import Embedder
from rag.retrieval import Retriever, passage_text
from rag.settings import Paths, Settings
from rag.types import Filters, SearchResult
from tests.fakes import WordEmbedder
from tests.ollama_server import Behaviour, OllamaServer
from tests.waiting import eventually

OPTICS = """# Оптика

## Преломление

Показатель преломления воды равен 1,33.

## Дисперсия

Белый свет разлагается призмой.
"""


class Embedders:
    """Loads fakes by name, and can be told to fail."""

    def __init__(self) -> None:
        self.loaded: list[str] = []
        self.missing: set[str] = set()
        self.weights: dict[str, str] = {}

    def __call__(self, name: str, data: Path, url: str, progress: Callable[[Message], None] | None = None) -> Embedder:
        if name in self.missing:
            raise EmbeddingError(msg("There is no model {name}.", name=name))
        self.loaded.append(name)
        return WordEmbedder(self.weights.get(name, name))


@pytest.fixture
def embedders() -> Embedders:
    return Embedders()


@pytest.fixture
def library(paths: Paths, embedders: Embedders) -> Iterator[Library]:
    with closing(Library.open(paths, embedders=embedders)) as library:
        yield library


def write(library: Library, name: str, text: str) -> None:
    library.add_file(name, text.encode())


def texts(library: Library, question: str) -> list[str]:
    return [hit.chunk.text for hit in library.search(question).hits]


def test_what_was_put_in_is_found_with_its_place(library: Library) -> None:
    write(library, "курс/оптика.md", OPTICS)
    assert library.sync().indexed == 1
    best = library.search("показатель преломления воды").hits[0].chunk
    assert (best.path, best.heading) == ("курс/оптика.md", ("Оптика", "Преломление"))
    assert "1,33" in best.text


def test_an_answer_comes_with_its_passages_and_citations(library: Library) -> None:
    write(library, "оптика.md", OPTICS)
    library.sync()
    reply = library.ask("Чему равен показатель преломления воды?")
    text = "".join(reply)
    assert "1,33" in text
    assert reply.answered_by == "quotes"
    assert reply.citations[0].file == "оптика.md"


def test_the_index_outlives_the_process(paths: Paths, embedders: Embedders) -> None:
    for _ in range(2):
        with closing(Library.open(paths, embedders=embedders)) as library:
            library.add_file("оптика.md", OPTICS.encode())
            result = library.sync()
            assert texts(library, "дисперсия света")[0] == "Белый свет разлагается призмой."
    assert (result.unchanged, result.embedded) == (1, 0)


def test_a_second_process_is_refused_with_what_to_do(library: Library, embedders: Embedders) -> None:
    with pytest.raises(StoreError, match="already running"):
        Library.open(library.paths, embedders=embedders)


def test_a_closed_library_can_be_opened_again(paths: Paths, embedders: Embedders) -> None:
    Library.open(paths, embedders=embedders).close()
    with closing(Library.open(paths, embedders=embedders)) as library:
        assert library.files() == []


def test_a_data_folder_that_cannot_be_written_is_told(tmp_path: Path, embedders: Embedders) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="Choose another folder"):
        Library.open(Paths(tmp_path, tmp_path / "file" / "data"), embedders=embedders)


def test_a_missing_notes_folder_is_told_and_uploading_makes_it(tmp_path: Path, embedders: Embedders) -> None:
    with closing(Library.open(Paths(tmp_path / "no", tmp_path / "data"), embedders=embedders)) as library:
        with pytest.raises(SettingsError, match="does not exist"):
            library.sync()
        write(library, "a.md", "Свет.")
        assert library.sync().indexed == 1


def test_a_question_of_spaces_is_told(library: Library) -> None:
    with pytest.raises(QuestionError, match="empty"):
        library.search("  \n")


def test_an_empty_library_answers_nothing_and_does_not_fail(library: Library) -> None:
    library.sync()
    result = library.search("Что такое свет?")
    assert (result.hits, result.refused) == ((), True)


def test_an_unknown_file_s_chunks_are_told(library: Library) -> None:
    with pytest.raises(QuestionError, match=r"no file “x\.md”"):
        library.chunks("x.md")


def test_a_file_s_chunks_are_found_however_the_letters_of_its_name_are_encoded(library: Library) -> None:
    write(library, "йод.md", "Йод испаряется.")
    library.sync()
    assert library.chunks(unicodedata.normalize("NFD", "йод.md")) == library.chunks("йод.md")


def test_a_question_with_bytes_that_are_no_text_is_searched_like_any_other(library: Library) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    assert library.search("\udcff свет\udcfe").query == "\ufffd свет\ufffd"
    reply = library.ask("\udcff свет преломляется?")
    assert "преломляется" in "".join(reply)
    assert (reply.question, reply.result.query) == ("\ufffd свет преломляется?",) * 2


def test_loading_is_not_timed_by_an_evaluation(
    library: Library, embedders: Embedders, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready: list[tuple[list[str], bool]] = []
    warm_up, search = Retriever.warm_up, library.search

    def warmed(retriever: Retriever) -> None:
        warm_up(retriever)
        ready.append((list(embedders.loaded), False))

    def searched(*given: Any) -> SearchResult:
        ready.append((list(embedders.loaded), True))
        return search(*given)

    monkeypatch.setattr(Retriever, "warm_up", warmed)
    monkeypatch.setattr(library, "search", searched)
    library.evaluate([{"question": "свет", "file": "a.md"}])
    assert ready == [(["bundled"], False), (["bundled"], True)]


def test_both_of_two_files_named_alike_are_listed_with_what_to_do(library: Library) -> None:
    write(library, "йод.md", "Йод испаряется.")
    (library.paths.notes / unicodedata.normalize("NFD", "йод.md")).write_text("Звук отражается.")
    library.sync()
    states = {file.state: file for file in library.files()}
    assert states["indexed"].path == "йод.md"
    assert "Rename one of the two" in str(states["failed"].error)
    library.delete_file(states["failed"].path)
    library.sync()
    assert [file.state for file in library.files()] == ["indexed"]
    assert texts(library, "йод испаряется") == ["Йод испаряется."]


def test_neighbours_are_the_passages_before_and_after(library: Library) -> None:
    write(library, "a.md", "".join(f"# {n}\n\nГлава номер {n}.\n\n" for n in range(4)))
    library.sync()
    chunks = library.chunks("a.md")
    assert library.neighbours(chunks[0]) == [chunks[1]]
    assert library.neighbours(chunks[2]) == [chunks[1], chunks[3]]


def test_a_search_can_be_filtered_before_candidates_are_cut(library: Library) -> None:
    write(library, "физика/a.md", "Свет преломляется в воде.")
    write(library, "химия/b.md", "Свет разлагает соль.")
    library.sync()
    found = library.search("свет", filters=Filters(folders=("химия",))).hits
    assert [hit.chunk.path for hit in found] == ["химия/b.md"]
    assert library.search("свет", filters=Filters(folders=("нет",))).hits == ()


def test_a_deleted_file_is_unfindable_at_once_and_kept_in_the_trash(library: Library) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    library.delete_file("a.md")
    assert library.files() == []
    assert texts(library, "свет преломляется") == []
    assert list((library.paths.data / "trash").rglob("a.md"))


def test_a_new_embedder_takes_over_with_an_index_of_its_own(library: Library, embedders: Embedders) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    library.change_settings(replace(library.settings, embedder="other"))
    assert library.sync().embedded == 1
    assert library.status().embedder == "other"
    assert texts(library, "свет") == ["Свет преломляется."]
    assert len(list((library.paths.data / "index").glob("*.sqlite3"))) == 1


def test_the_old_index_answers_with_its_own_model_until_the_new_one_is_complete(
    paths: Paths, embedders: Embedders
) -> None:
    with closing(Library.open(paths, embedders=embedders)) as library:
        write(library, "a.md", "Свет преломляется.")
        library.sync()
    embedders.loaded.clear()
    other = replace(Settings.load(paths.data), embedder="other")
    with closing(Library.open(paths, other, embedders=embedders)) as library:
        assert texts(library, "свет") == ["Свет преломляется."]
        status = library.status()
        assert (status.embedder, status.rebuilding) == ("bundled", 0)
        library.sync()
        assert (library.status().embedder, library.status().rebuilding) == ("other", None)


def test_weights_that_changed_under_the_same_name_are_never_mixed(paths: Paths, embedders: Embedders) -> None:
    with closing(Library.open(paths, embedders=embedders)) as library:
        write(library, "a.md", "Свет преломляется.")
        library.sync()
    embedders.weights["bundled"] = "retrained"
    with closing(Library.open(paths, embedders=embedders)) as library:
        assert texts(library, "свет") == []
        assert library.sync().embedded == 1
        assert texts(library, "свет") == ["Свет преломляется."]


def test_an_embedder_that_cannot_be_loaded_is_told_and_the_old_one_goes_on(
    library: Library, embedders: Embedders
) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    embedders.missing.add("nowhere")
    library.change_settings(replace(library.settings, embedder="nowhere"))
    with pytest.raises(SettingsError, match="no model nowhere"):
        library.sync()
    assert texts(library, "свет") == ["Свет преломляется."]
    assert "nowhere" in str(library.status().error)


def test_a_first_embedder_that_cannot_be_loaded_is_told_to_every_question(paths: Paths, embedders: Embedders) -> None:
    embedders.missing.add("bundled")
    with closing(Library.open(paths, embedders=embedders)) as library:
        library.warm_up()
        assert eventually(lambda: library.status().model == "failed")
        with pytest.raises(EmbeddingError, match="no model bundled"):
            library.search("свет")
        embedders.missing.clear()
        library.search("свет")


def test_the_folder_is_followed_while_the_library_watches(library: Library) -> None:
    library.start_watching()
    note = library.paths.notes / "a.md"
    note.write_text("Свет преломляется.")
    assert eventually(lambda: library.status().chunks == 1)
    note.write_text("Звук отражается.")
    assert eventually(lambda: texts(library, "звук") == ["Звук отражается."])
    note.rename(library.paths.notes / "b.md")
    assert eventually(lambda: [f.path for f in library.files()] == ["b.md"])
    (library.paths.notes / "b.md").unlink()
    assert eventually(lambda: library.status().chunks == 0)


def test_a_successor_is_built_in_the_background(library: Library) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.start_watching()
    assert eventually(lambda: library.status().chunks == 1)
    library.change_settings(replace(library.settings, embedder="other"))
    assert eventually(lambda: library.status().embedder == "other")
    assert texts(library, "свет") == ["Свет преломляется."]


def test_a_retried_file_is_parsed_again(library: Library) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    library.retry("a.md")
    assert library.sync().indexed == 1


def test_an_upload_is_a_stream_or_bytes(library: Library) -> None:
    assert library.add_file("a.md", io.BytesIO(b"one")).state == "added"
    assert library.add_file("a.md", b"two").state == "conflict"


def test_sentences_are_read_ahead_of_questions_and_forgotten_with_their_notes(
    paths: Paths, embedders: Embedders
) -> None:
    sentences = replace(Settings(), reranker="sentences")
    with closing(Library.open(paths, sentences, embedders=embedders)) as library:
        write(library, "a.md", OPTICS)
        write(library, "b.md", "Звук отражается.")
        library.sync()
        kept = sqlite3.connect(next((paths.data / "sentences").glob("*.sqlite")))
        count = "SELECT count(*) FROM kept"
        assert kept.execute(count).fetchone() == (3,)
        found = library.search("показатель преломления воды").hits[0]
        assert found.rerank is not None
        library.delete_file("b.md")
        library.sync()
        assert kept.execute(count).fetchone() == (2,)
        kept.close()


def test_sentences_asked_in_doubt_are_forgotten_with_their_notes(library: Library) -> None:
    write(library, "a.md", OPTICS)
    write(library, "b.md", "Звук отражается.")
    library.sync()
    serving = library._shelf.load()
    texts = [passage_text(chunk) for chunk in serving.index.catalog.all_chunks()]
    serving.sentences.nearness("Что делает звук?", texts)
    kept = sqlite3.connect(next((library.paths.data / "sentences").glob("*.sqlite")))
    count = "SELECT count(*) FROM kept"
    assert kept.execute(count).fetchone() == (3,)
    library.delete_file("b.md")
    library.sync()
    assert kept.execute(count).fetchone() == (2,)
    kept.close()


def test_sentences_of_a_model_that_no_longer_answers_are_deleted(library: Library) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    before = set((library.paths.data / "sentences").glob("*.sqlite"))
    library.change_settings(replace(library.settings, embedder="other"))
    library.sync()
    after = set((library.paths.data / "sentences").glob("*.sqlite"))
    assert len(before) == len(after) == 1
    assert before != after


def test_sentences_outlive_an_index_that_its_own_model_makes_anew(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    before = library._shelf.load()
    before.sentences.nearness("Что делает свет?", ["Свет преломляется."])
    library.close()
    monkeypatch.setattr("rag.syncing.indexing.CHUNKER_VERSION", "another")
    with closing(Library.open(library.paths, embedders=library._shelf._load_embedder)) as again:
        again.sync()
        after = again._shelf.load()
        assert after.index.identity.key != before.index.identity.key
        assert after.index.identity.model == before.index.identity.model
        assert after.sentences._kept.get(["Свет преломляется."])


def test_a_model_that_was_chosen_and_given_up_leaves_nothing(library: Library) -> None:
    write(library, "a.md", "Свет преломляется.")
    library.sync()
    usual = library.settings
    library.change_settings(replace(usual, embedder="other"))
    given_up = library._shelf.prepare().sentences, library._shelf.successor
    assert given_up[1] is not None
    library.change_settings(usual)
    library._shelf.prepare()
    assert library._shelf.successor is None
    assert len(list((library.paths.data / "sentences").glob("*.sqlite"))) == 1
    assert list(library._shelf._embedders) == [usual.embedder]


def test_an_answer_quotes_what_was_meant_not_what_was_typed(library: Library) -> None:
    write(library, "a.md", "# История\n\nКрестьян освободили в 1861 году. Армией командовал князь. Урожай был плохим.")
    write(library, "b.md", "# Код\n\ndef f(x): return x")
    library.sync()
    reply = library.ask("jcdj,jlbkb rhtcnmzy", use_llm=False)
    list(reply)
    assert reply.result.reading == "освободили крестьян"
    assert "Крестьян освободили в 1861 году." in reply.text


def test_a_question_that_refers_back_is_looked_up_with_the_one_before(library: Library) -> None:
    write(library, "a.md", OPTICS)
    write(library, "b.md", "# Акустика\n\nСкорость звука в воде равна 1500 м/с.")
    library.sync()
    history = [("Чему равна скорость звука в воде?", "1500 м/с")]
    assert library.ask("А у неё самой?", history=history).result.hits[0].chunk.path == "b.md"


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("Чему равна скорость звука в воде?", "А от чего она зависит?"),
        ("Чему равна скорость звука в воде?", "Почему?"),
        ("What is the speed of sound in water?", "What does it depend on?"),
        ("What is the speed of sound in water?", "And why?"),
    ],
)
def test_a_pronoun_is_looked_up_with_what_it_stands_for(library: Library, before: str, question: str) -> None:
    write(library, "a.md", OPTICS)
    write(library, "sound.md", "Скорость звука в воде. The speed of sound in water: 1500 m/s.")
    write(library, "c.md", "От чего зависит настроение? Почему бывает грустно? What does mood depend on, and why?")
    library.sync()
    assert library.ask(question, use_llm=False).result.query == question
    reply = library.ask(question, use_llm=False, history=[(before, "1500 м/с")])
    assert reply.result.hits[0].chunk.path == "sound.md"


def test_a_question_that_stands_alone_is_not_mixed_with_the_one_before(library: Library) -> None:
    write(library, "a.md", OPTICS)
    write(library, "b.md", "# Акустика\n\nСкорость звука в воде равна 1500 м/с.")
    library.sync()
    reply = library.ask("Что такое дисперсия?", use_llm=False, history=[("Чему равна скорость звука в воде?", "1500")])
    assert reply.result.query == "Что такое дисперсия?"


SEVERAL = "Что такое преломление, почему призма разлагает свет и когда звук отражается от стены?"


def test_a_chat_model_takes_a_question_apart_and_each_part_has_its_passage(paths: Paths, embedders: Embedders) -> None:
    said = "Что такое преломление?\nПочему призма разлагает свет?\nКогда звук отражается от стены?"

    def writes(messages: object, tokens: int) -> list[str]:
        return [said] if "Раздели вопрос" in str(messages) else ["Показатель преломления воды равен 1,33 [1]."]

    with OllamaServer(Behaviour(write=writes)) as server:
        settings = replace(Settings(), ollama_url=server.url, refusal=0.0)
        with closing(Library.open(paths, settings, embedders=embedders)) as library:
            write(library, "a.md", OPTICS)
            write(library, "b.md", "Звук отражается от стены, когда она твёрдая и ровная.")
            library.sync()
            assert library.ask(SEVERAL).result.sub_questions == tuple(said.split("\n"))
            assert {hit.chunk.path for hit in library.ask(SEVERAL).result.hits} == {"a.md", "b.md"}
            assert library.ask("Что такое преломление?").result.sub_questions == ()
            assert sum("Раздели вопрос" in str(body) for _, body in server.requests) == 1


def test_without_a_chat_model_a_question_stays_whole_or_is_taken_apart_by_rules(library: Library) -> None:
    write(library, "a.md", OPTICS)
    library.sync()
    assert library.ask(SEVERAL).result.sub_questions == ()
    assert library.ask("Чем преломление отличается от дисперсии?").result.sub_questions == ("преломление", "дисперсии")
