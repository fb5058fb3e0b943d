"""The indexes in a data folder: the active one, and at times a successor that is being built beside it.

`index/active` names the active index; replacing that file is the moment of the swap.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rag.errors import StoreError
from rag.messages import msg
from rag.storage.catalog import Catalog
from rag.storage.index import Index, IndexIdentity
from rag.storage.store import ChromaStore, open_client

_IDENTITY = "identity"
_COLLECTION = "collection"


class Indexes:
    """Opens, activates and discards the indexes of one data folder. One thread changes them; others may read."""

    def __init__(self, data: Path, chroma_url: str) -> None:
        self._folder = data / "index"
        self._chroma = data / "chroma"
        self._url = chroma_url
        self._client: Any = None
        self._opening = threading.Lock()
        self._catalogs: dict[str, Catalog] = {}

    def active(self) -> IndexIdentity | None:
        """Return what the active index was made by; `None` where there is none yet."""
        catalog = self.active_catalog()
        stored = catalog.about(_IDENTITY) if catalog else None
        return IndexIdentity.from_json(stored) if stored else None

    def active_catalog(self) -> Catalog | None:
        """Return the active index's catalogue, without opening its vectors."""
        pointer = self._folder / "active"
        key = pointer.read_text(encoding="ascii").strip() if pointer.exists() else ""
        return self._catalog(key) if key and self._file(key).exists() else None

    def open(self, identity: IndexIdentity) -> Index:
        """Open the index with this identity, and make it where there is none. Mends what a crash left."""
        catalog = self._catalog(identity.key)
        stored = catalog.about(_IDENTITY)
        if stored is None:
            # A Chroma server may serve several data folders: the collection's name is this index's own.
            catalog.set_about(_COLLECTION, f"notes-{uuid.uuid4().hex[:16]}")
            catalog.set_about(_IDENTITY, identity.to_json())
        elif IndexIdentity.from_json(stored).key != identity.key:
            raise StoreError(
                msg(
                    "The index {key} was made by another model. Delete {folder}; it is built anew.",
                    key=identity.key,
                    folder=str(self._folder),
                )
            )
        index = Index(identity, catalog, self._store(catalog))
        index.repair()
        return index

    def activate(self, identity: IndexIdentity) -> None:
        """Make this index the one that answers."""
        try:
            draft = self._folder / "active.new"
            draft.write_text(identity.key, encoding="ascii")
            draft.replace(self._folder / "active")
        except OSError as error:
            raise StoreError(
                msg(
                    "Cannot write to the data folder {folder}: {reason}.",
                    folder=str(self._folder),
                    reason=error.strerror or str(error),
                )
            ) from error

    def sweep(self, keep: Iterable[str]) -> None:
        """Delete every index of this data folder but those with these keys."""
        kept = set(keep)
        for key in {file.name.partition(".")[0] for file in self._folder.glob("*.sqlite3")} - kept:
            catalog = self._catalog(key)
            if catalog.about(_COLLECTION):
                self._store(catalog).drop()
            self._catalogs.pop(key).close()
            for file in self._folder.glob(f"{key}.sqlite3*"):
                file.unlink()

    def close(self) -> None:
        """Close every catalogue."""
        for catalog in self._catalogs.values():
            catalog.close()
        self._catalogs.clear()

    def _catalog(self, key: str) -> Catalog:
        with self._opening:
            if key not in self._catalogs:
                self._catalogs[key] = Catalog(self._file(key))
            return self._catalogs[key]

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.sqlite3"

    def _store(self, catalog: Catalog) -> ChromaStore:
        if self._client is None:
            self._client = open_client(self._chroma, self._url)
        return ChromaStore(self._client, catalog.about(_COLLECTION) or "")
