"""The structure guards itself: who may import whom, and that importing the library is cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RAG = sorted((ROOT / "rag").rglob("*.py"))
PAGES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
HEAVY = {"torch", "chromadb", "pymupdf", "unstructured", "streamlit", "sentence_transformers", "transformers", "spacy"}
# Each heavy package has its owners; what only the settings of a process need is not counted.
OWNERS = {
    "chromadb": ("rag/storage/store.py",),
    "streamlit": ("app.py", "pages/"),
    "pymupdf": ("rag/parsing/",),
    "unstructured": ("rag/parsing/",),
    "torch": ("rag/models/",),
    "sentence_transformers": ("rag/models/",),
    "ollama": ("rag/models/", "rag/chat/"),
    "watchdog": ("rag/syncing/watching.py",),
    "rank_bm25": ("rag/retrieval/",),
}


def imports(file: Path, *, top_level: bool = False) -> set[str]:
    """Return the modules that a file imports, anywhere or only when it is itself imported."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    nodes = tree.body if top_level else list(ast.walk(tree))
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("file", [*RAG, *PAGES], ids=name)
def test_a_package_is_imported_only_by_its_owner(file: Path) -> None:
    for module in {module.partition(".")[0] for module in imports(file)} & OWNERS.keys():
        assert name(file).startswith(OWNERS[module]), f"{name(file)} imports {module}"


@pytest.mark.parametrize("file", RAG, ids=name)
def test_the_library_never_imports_the_pages(file: Path) -> None:
    assert not {module.partition(".")[0] for module in imports(file)} & {"app", "pages", "tests", "bench"}


def test_importing_the_library_is_quick_and_pulls_in_nothing_heavy() -> None:
    code = (
        "import time, sys; start = time.perf_counter(); import rag, rag.library; "
        "print(time.perf_counter() - start); print(*sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    loaded = {module.partition(".")[0] for module in out.split("\n")[1].split()}
    assert not loaded & HEAVY


def test_importing_rag_takes_less_than_half_a_second() -> None:
    code = "import time; start = time.perf_counter(); import rag; print(time.perf_counter() - start)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout)
        for _ in range(3)
    ]
    assert min(runs) < 0.5


def test_every_package_that_was_asked_for_is_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = " ".join(project["dependencies"])
    asked = "streamlit pymupdf unstructured sentence-transformers chromadb rank-bm25 ollama watchdog"
    assert all(package in names for package in asked.split())


def test_the_ci_runs_the_readme_s_own_test_command() -> None:
    line = next(li for li in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines() if li.startswith("tests="))
    found = subprocess.run(
        ["bash", "-c", f'{line}; printf %s "$tests"'], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert found.startswith("python3 -m venv .venv && ")
    assert found.endswith("-m pytest")
    assert found in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
