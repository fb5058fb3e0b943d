"""Same files, settings and question: the same passages, scores and confidence, run after run, process after process."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from rag.library import Library
from rag.settings import Paths
from rag.types import MODES
from tests.fakes import WordEmbedder

ROOT = Path(__file__).parent.parent
VOCABULARY = """
свет волна линза фокус призма спектр энергия работа тепло двигатель цикл закон поле заряд ток сила масса
скорость время память процесс поток файл сеть пакет адрес ключ дерево граф список очередь хеш поиск сортировка
"""
QUESTIONS = (
    "закон преломления света в линзе",
    "Чем процесс отличается от потока?",
    "граф 17",
    "«дерево поиска» и хеш",
    "сортеровка списка",
    "energy of light",
    "???",
)


def fill(notes: Path) -> None:
    """Write 40 notes of 12 passages, many of them nearly or wholly alike: ties are what could change places."""
    chance, known = random.Random(5), VOCABULARY.split()
    for file in range(40):
        parts = []
        for part in range(12):
            text = " ".join(chance.choice(known) for _ in range(14)) if part % 4 else "свет волна линза фокус призма"
            parts.append(f"# {part}\n\nПро {text} {file % 7}.")
        date = f"---\ndate: 202{file % 5}\n---\n"
        (notes / f"{file:02}.md").write_text(date + "\n\n".join(parts), encoding="utf-8")


def answers(paths: Paths, runs: int) -> list[str]:
    """Return what each run says to every question in every mode, and with reranking, to the last digit."""
    with closing(Library.open(paths, embedders=lambda *how: WordEmbedder())) as library:
        library.sync()
        return [
            "\n".join(
                repr(library.search(question, 5, mode, rerank))
                for question in QUESTIONS
                for mode, rerank in (*((mode, False) for mode in MODES), ("hybrid", True))
            )
            for _ in range(runs)
        ]


def test_ten_runs_and_two_more_processes_give_identical_hits_and_scores(paths: Paths) -> None:
    fill(paths.notes)
    first, *others = answers(paths, 10)
    assert first.count("Hit(") > 100
    assert all(other == first for other in others)
    code = (
        "from pathlib import Path; from rag.settings import Paths; from tests.test_same_again import answers;"
        f" print(answers(Paths(Path({str(paths.notes)!r}), Path({str(paths.data)!r})), 1)[0])"
    )
    for seed in ("1", "2"):
        ran = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PATH": ""},
        )
        assert ran.stdout.rstrip("\n") == first
