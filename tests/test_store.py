"""The contract of the seam `ChunkStore`, held by the fake and by Chroma alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rag.errors import StoreError
from rag.protocols import ChunkStore, Vectors
from rag.storage.store import ChromaStore, open_client
from tests.fakes import MemoryStore


def chroma(folder: Path) -> ChunkStore:
    return ChromaStore(open_client(folder), "notes-test")


@pytest.fixture(params=["memory", "chroma"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ChunkStore:
    makers: dict[str, Callable[[], ChunkStore]] = {"memory": MemoryStore, "chroma": lambda: chroma(tmp_path / "chroma")}
    return makers[request.param]()


def unit(*numbers: float) -> Vectors:
    vector = np.array(numbers, np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def fill(store: ChunkStore) -> None:
    vectors = np.stack([unit(1, 0, 0), unit(0, 1, 0), unit(1, 1, 0), unit(0, 0, 1)])
    store.add(["a0", "a1", "b0", "c0"], vectors, ["a", "a", "b", "c"], ["x.md", "x.md", "y.md", "z.md"])


def test_an_empty_store_finds_nothing(store: ChunkStore) -> None:
    assert store.query(unit(1, 0, 0), 3) == []
    assert store.ids() == set()


def test_a_chunk_has_the_cosine_of_its_best_vector(store: ChunkStore) -> None:
    fill(store)
    found = dict(store.query(unit(0, 1, 0), 3))
    assert found["a"] == pytest.approx(1, abs=1e-5)
    assert found["b"] == pytest.approx(2**-0.5, abs=1e-5)


def test_several_vectors_of_one_chunk_do_not_crowd_out_others(store: ChunkStore) -> None:
    vectors = np.stack([unit(1, n / 1000, 0) for n in range(20)] + [unit(0, 1, 0)])
    ids = [str(n) for n in range(21)]
    store.add(ids, vectors, ["a"] * 20 + ["b"], ["x.md"] * 21)
    assert [chunk for chunk, _ in store.query(unit(1, 0, 0), 2)] == ["a", "b"]


def test_results_are_best_first_and_ties_go_by_id(store: ChunkStore) -> None:
    store.add(["1", "2", "3"], np.stack([unit(1, 0)] * 2 + [unit(1, 1)]), ["n", "m", "o"], ["x"] * 3)
    assert [chunk for chunk, _ in store.query(unit(1, 0), 3)] == ["m", "n", "o"]


def test_a_query_can_be_restricted_to_files(store: ChunkStore) -> None:
    fill(store)
    assert [chunk for chunk, _ in store.query(unit(1, 0, 0), 3, ["y.md", "z.md"])] == ["b", "c"]
    assert store.query(unit(1, 0, 0), 3, []) == []
    assert store.query(unit(1, 0, 0), 3, ["no.md"]) == []


def test_adding_an_id_again_replaces_its_vector(store: ChunkStore) -> None:
    fill(store)
    store.add(["c0"], np.stack([unit(1, 0, 0)]), ["c"], ["z.md"])
    assert dict(store.query(unit(1, 0, 0), 3))["c"] == pytest.approx(1, abs=1e-5)


def test_deleted_vectors_are_gone_and_unknown_ids_are_ignored(store: ChunkStore) -> None:
    fill(store)
    store.delete(["a0", "a1", "no"])
    assert store.ids() == {"b0", "c0"}
    assert "a" not in dict(store.query(unit(1, 0, 0), 5))


def test_stored_vectors_come_back_as_they_went_in(store: ChunkStore) -> None:
    fill(store)
    found = store.vectors(["b0", "no"])
    assert set(found) == {"b0"}
    assert np.allclose(found["b0"], unit(1, 1, 0), atol=1e-6)


def test_all_vectors_of_a_chunk_come_together_in_the_order_of_their_ids(store: ChunkStore) -> None:
    fill(store)
    found = store.of_chunks(["a", "c", "no"])
    assert set(found) == {"a", "c"}
    alone = store.vectors(["a0", "a1"])
    assert np.allclose(found["a"], np.stack([alone["a0"], alone["a1"]]))
    assert store.of_chunks([]) == {}


def test_chroma_takes_more_vectors_than_its_batch_limit(tmp_path: Path) -> None:
    client = open_client(tmp_path / "chroma")
    store = ChromaStore(client, "notes-test")
    store._batch = 10
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((35, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [f"{n:02}" for n in range(35)]
    store.add(ids, vectors, ids, ["x.md"] * 35)
    assert store.ids() == set(ids)
    assert store.query(vectors[20], 1)[0][0] == "20"
    store.delete(ids[:30])
    assert len(store.vectors(ids)) == 5


def test_chroma_s_neighbours_are_the_true_ones(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((1500, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [str(n) for n in range(1500)]
    real, exact = chroma(tmp_path / "chroma"), MemoryStore()
    for store in (real, exact):
        store.add(ids, vectors, ids, ["x.md"] * 1500)
    shared = 0
    for n in range(20):
        question = vectors[n] + 0.1 * rng.standard_normal(32).astype(np.float32)
        found = [{chunk for chunk, _ in store.query(question, 100)} for store in (real, exact)]
        shared += len(found[0] & found[1])
    assert shared >= 20 * 100 * 0.995


def test_a_vector_of_another_dimension_is_an_error_of_ours(tmp_path: Path) -> None:
    store = chroma(tmp_path / "chroma")
    fill(store)
    with pytest.raises(StoreError, match="dimension"):
        store.query(unit(1, 0), 1)


def test_a_chroma_server_that_does_not_answer_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"http://127\.0\.0\.1:9"):
        open_client(tmp_path, "http://127.0.0.1:9")


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"):
        open_client(tmp_path / "file" / "chroma")


def test_a_vector_deleted_during_a_search_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ChromaStore(open_client(tmp_path / "chroma"), "notes-test")
    fill(store)
    real = store._collection.query

    def without_the_first(**asked: object) -> dict[str, list[list[object]]]:
        rows = real(**asked)
        rows["metadatas"][0][0] = None
        return dict(rows)

    whole = store.query(unit(1, 0, 0), 3)
    monkeypatch.setattr(store._collection, "query", without_the_first)
    assert 0 < len(store.query(unit(1, 0, 0), 3)) <= len(whole)
