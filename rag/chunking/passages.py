"""From sections to passages that fit the embedder's window, with what is repeated where a section was cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag.chunking.atoms import Atom, Cut, atoms_of, split_atom
from rag.chunking.cuts import Limits, best_cuts
from rag.chunking.embedded import CountTokens, embedded, heading_lines
from rag.chunking.sections import Section

TARGET = 900  # characters that a passage should have where its section is long enough
MOST = 1500  # and the most it may have
OVERLAP = 200  # characters that may be repeated of the passage before


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of a section's atoms. Its text begins at `start`, before its first atom if it overlaps."""

    section: Section
    line: str
    atoms: tuple[Atom, ...]
    start: int
    tokens: int = 0

    @property
    def end(self) -> int:
        return self.atoms[-1].end

    @property
    def text(self) -> str:
        header = self.atoms[0].header
        body = self.section.text[self.start : self.end]
        return f"{header}\n{body}" if header else body

    @property
    def words(self) -> str:
        return "\n".join(atom.words for atom in self.atoms if atom.words)


@dataclass(frozen=True, slots=True)
class _Run:
    """Atoms of one section still to be cut, each with its tokens; `room` is what the passages' texts may take.
    `key` sorts what comes of the runs into reading order."""

    key: tuple[int, ...]
    section: Section
    line: str
    atoms: tuple[Atom, ...]
    tokens: tuple[int, ...]
    room: int


def passages_of(sections: Sequence[Section], count_tokens: CountTokens, window: int) -> list[Passage]:
    """Cut sections into passages, in reading order, each counted and within the window.

    All atoms are counted in one call, then all passages in another, as they will be embedded. The few that take
    more than their parts foretold are cut again with less room.
    """
    done: dict[tuple[int, ...], Passage] = {}
    waiting = _first_runs(sections, count_tokens, window)
    while waiting:
        made = [(run, key, passage) for run in waiting for key, passage in _cut(run)]
        counts = count_tokens([embedded(passage.line, passage.text, "") for _, _, passage in made])
        again: list[tuple[_Run, tuple[int, ...], Passage]] = []
        for (run, key, passage), tokens in zip(made, counts, strict=True):
            if tokens <= window or len(passage.text) < 2:
                done[key] = replace(passage, tokens=tokens)
            else:
                again.append((replace(run, room=min(run.room - 1, run.room * window // tokens)), key, passage))
        waiting = _runs_again(again, count_tokens)
    return [done[key] for key in sorted(done)]


def _first_runs(sections: Sequence[Section], count_tokens: CountTokens, window: int) -> list[_Run]:
    lines = heading_lines([section.heading for section in sections], count_tokens, window)
    atoms = [tuple(atoms_of(section)) for section in sections]
    taken = count_tokens(lines) if lines else []
    sizes = iter(_atom_tokens([(s, a) for s, row in zip(sections, atoms, strict=True) for a in row], count_tokens))
    return [
        _Run((i,), section, line, row, tuple(next(sizes) for _ in row), max(1, window - used))
        for i, (section, line, row, used) in enumerate(zip(sections, lines, atoms, taken, strict=True))
    ]


def _runs_again(again: Sequence[tuple[_Run, tuple[int, ...], Passage]], count_tokens: CountTokens) -> list[_Run]:
    """Make runs of passages that were too long: the same atoms with less room, or a lone atom in two.
    A passage of one atom does not repeat its table's header any more."""
    runs = []
    for run, key, passage in again:
        atoms = passage.atoms
        if len(atoms) == 1:
            half = max(1, (atoms[0].end - atoms[0].start + 1) // 2)
            lone = replace(atoms[0], header="")
            atoms = (lone,) if atoms[0].header else tuple(split_atom(run.section.text, lone, half))
        tokens = _atom_tokens([(run.section, atom) for atom in atoms], count_tokens)
        runs.append(replace(run, key=key, atoms=atoms, tokens=tuple(tokens)))
    return runs


def _atom_tokens(atoms: Sequence[tuple[Section, Atom]], count_tokens: CountTokens) -> list[int]:
    """Return the tokens of each atom's text, without what embedding adds to every text."""
    empty, *counts = count_tokens(["", *(section.text[atom.start : atom.end] for section, atom in atoms)])
    return [n - empty for n in counts]


def _cut(run: _Run) -> Iterator[tuple[tuple[int, ...], Passage]]:
    """Yield the passages of a run, with the keys that sort them."""
    starts = best_cuts(run.atoms, run.tokens, Limits(TARGET, MOST, run.room))
    for n, (first, after) in enumerate(zip(starts, [*starts[1:], len(run.atoms)], strict=True)):
        begin = _overlap(run, starts[n - 1], first, after) if n else run.atoms[first].start
        yield (*run.key, n), Passage(run.section, run.line, run.atoms[first:after], begin)


def _overlap(run: _Run, before: int, first: int, after: int) -> int:
    """Return where the passage of atoms first..after begins if the end of the one before it is repeated:
    the last sentence or two, where they are prose of the same topic, short, and leave room."""
    start = run.atoms[first].start
    if run.atoms[first].cut >= Cut.POINT or not run.atoms[first].prose:
        return start
    room = run.room - sum(run.tokens[first:after])
    for i in range(first - 1, max(before, first - 3), -1):
        room -= run.tokens[i]
        atom = run.atoms[i]
        if not atom.prose or run.atoms[first].start - atom.start > OVERLAP or room < 0:
            break
        start = atom.start
    return start
