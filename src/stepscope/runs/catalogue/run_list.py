"""`stepscope.runs(...)` and `stepscope.run(...)`: recorded runs as Python objects, read lazily."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from stepscope.errors import MissingExtra, NotFound
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.runs.catalogue.find_run import find_run
from stepscope.runs.store import usual_store

if TYPE_CHECKING:
    from stepscope.runs.read.folder import RunFolder

_SHOWN = 20


def runs(dir: str | os.PathLike[str] | None = None, query: str = "") -> RunList:
    """The runs in a folder, newest first; run contents are read on access.

    Without `dir`, uses the folder that `stepscope.init` writes to: STEPSCOPE_DIR, else `stepscope-runs`.

        good = stepscope.runs("stepscope-runs", "config.lr < 0.01 and loss.min < 0.3")
        good[0].series("loss").values.min()
        good.to_pandas()[["name", "config.lr", "loss.min"]]

    docs/query.md is the manual of the query language.
    """
    store = _store(dir)
    if not store.is_dir():
        said = " (from STEPSCOPE_DIR)" if dir is None and os.environ.get("STEPSCOPE_DIR") else ""
        raise NotFound(
            f"there is no folder {store}{said}; give the folder that you passed as `dir` to stepscope.init(...)"
        )
    catalogue = Catalogue(store)
    return RunList(catalogue, catalogue.entries(query))


def run(ref: str | os.PathLike[str], dir: str | os.PathLike[str] | None = None) -> RunFolder:
    """One run: by the path of its folder, or by its id, the beginning of it, its name, `project/name`, `last` or `@2`.

        stepscope.run("last").series("loss").to_pandas()

    Names are looked up in `dir`; without it, where `stepscope.init` writes: STEPSCOPE_DIR, else `stepscope-runs`.
    """
    from stepscope.runs.read.folder import open_run

    return open_run(find_run(ref, _store(dir)))


def _store(dir: str | os.PathLike[str] | None) -> Path:
    return (usual_store() if dir is None else Path(dir)).expanduser()


class RunList(Sequence["RunFolder"]):
    """A list of runs. Indexing opens a run; `entries` needs no file access."""

    def __init__(self, catalogue: Catalogue, entries: list[RunEntry]) -> None:
        self._catalogue = catalogue
        self.entries = entries
        """The catalog's data: name, status, config, the summary of each metric."""

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, at: int) -> RunFolder: ...
    @overload
    def __getitem__(self, at: slice) -> RunList: ...
    def __getitem__(self, at: int | slice) -> RunFolder | RunList:
        if isinstance(at, slice):
            return RunList(self._catalogue, self.entries[at])
        return self._catalogue.get(self.entries[at].id)

    def __iter__(self) -> Iterator[RunFolder]:
        return (self._catalogue.get(entry.id) for entry in self.entries)

    def filter(self, query: str) -> RunList:
        """The runs that match a query, in the same order."""
        found = {entry.id for entry in self._catalogue.entries(query)}
        return RunList(self._catalogue, [entry for entry in self.entries if entry.id in found])

    def sort(self, by: str, descending: bool = False) -> RunList:
        """The runs sorted by `config.lr`, `loss.min`, `created` ... Missing values and NaN come last."""
        mine = {entry.id for entry in self.entries}
        everything = self._catalogue.entries(sort=by, descending=descending)
        return RunList(self._catalogue, [entry for entry in everything if entry.id in mine])

    def to_pandas(self) -> Any:
        """A table with one row per run: facts, `config.*`, and the last, minimum and maximum of each metric."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("a table of runs", "pandas", extra="pandas") from None
        return pd.DataFrame([_line(entry) for entry in self.entries])

    def __repr__(self) -> str:
        lines = [f"{len(self)} run{'' if len(self) == 1 else 's'}"]
        for entry in self.entries[:_SHOWN]:
            made = datetime.fromtimestamp(entry.created)
            lines.append(f"  {entry.id}  {entry.status:<9}  {made:%Y-%m-%d %H:%M}  {entry.project}/{entry.name}")
        if len(self) > _SHOWN:
            lines.append(f"  ... and {len(self) - _SHOWN} more")
        return "\n".join(lines)


def _line(entry: RunEntry) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": entry.id,
        "name": entry.name,
        "project": entry.project,
        "status": entry.status,
        "created": datetime.fromtimestamp(entry.created),
        "duration_s": entry.duration_s,
        "tags": entry.tags,
        "group": entry.group,
    }
    line.update({f"config.{key}": value for key, value in entry.config.items()})
    for name in entry.metrics:
        for stat in ("last", "min", "max"):
            line[f"{name}.{stat}"] = entry.metrics.number(name, stat)
    return line
