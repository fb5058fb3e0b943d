"""The questions asked so far with their answers, in the data folder: searchable, and deletable for good."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rag.answering.record import RunRecord
from rag.errors import StoreError
from rag.messages import msg

_SCHEMA = """
create table if not exists answers (
    id integer primary key autoincrement, asked text not null, question text not null, folded text not null,
    record text not null
)
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One question of the history; `asked` is ISO 8601 in UTC."""

    id: int
    asked: str
    question: str


class History:
    """Safe to use from several threads: every call has its own connection."""

    def __init__(self, data: Path) -> None:
        self._file = data / "history.sqlite3"

    def add(self, record: RunRecord) -> int:
        """Keep a record; return its id."""
        row = (record.when, record.question, _folded(f"{record.question}\n{record.text}"), _dumped(record))
        with self._connection() as connection:
            added = connection.execute("insert into answers (asked, question, folded, record) values (?, ?, ?, ?)", row)
            return int(added.lastrowid or 0)

    def search(self, words: str = "", limit: int = 50) -> list[Entry]:
        """Return entries whose question or answer holds all the words, in any case, newest first."""
        wanted = [f"%{_escaped(word)}%" for word in _folded(words).split()]
        condition = " and ".join(["folded like ? escape '!'"] * len(wanted)) or "1"
        query = f"select id, asked, question from answers where {condition} order by id desc limit ?"
        with self._connection() as connection:
            return [Entry(*row) for row in connection.execute(query, (*wanted, limit))]

    def get(self, entry: int) -> RunRecord | None:
        """Return the record with that id, `None` where it was deleted."""
        with self._connection() as connection:
            row = connection.execute("select record from answers where id = ?", (entry,)).fetchone()
        return None if row is None else RunRecord.from_json(json.loads(row[0]))

    def delete(self, entry: int) -> None:
        """Forget one question; an unknown id is ignored."""
        with self._connection() as connection:
            connection.execute("delete from answers where id = ?", (entry,))

    def clear(self) -> None:
        """Forget everything."""
        with self._connection() as connection:
            connection.execute("delete from answers")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._file, timeout=10)
            try:
                connection.execute("pragma secure_delete = on")  # what is deleted must not be readable in the file
                connection.execute(_SCHEMA)
                with connection:
                    yield connection
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                msg(
                    "The history {file} cannot be used: {reason}. Delete that file to begin a new one.",
                    file=str(self._file),
                    reason=str(error),
                )
            ) from error


def _dumped(record: RunRecord) -> str:
    return json.dumps(record.to_json(), ensure_ascii=False)


def _folded(text: str) -> str:
    return text.casefold().replace("ё", "е")


def _escaped(word: str) -> str:
    return word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
