"""MLflow's file store: `mlruns/<experiment>/<run>/` with one file per metric, parameter and tag."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope.errors import BadData
from stepscope.files.listing import plain_files, refused_links
from stepscope.files.opening import open_file, read_text, read_window
from stepscope.files.yaml_text import load_yaml
from stepscope.importers.foreign import Columns
from stepscope.importers.mlflow.stored import StoredRun, columns_of

_STATUS = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}
_LARGEST_META = 1 << 20
_LARGEST_VALUE = 64 << 10
_STRETCH = 16 << 20


def is_file_store(path: Path) -> bool:
    """Whether it contains experiments: folders with a `meta.yaml` that names one."""
    return next(_experiments(path), None) is not None


def _experiments(root: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    try:
        folders = sorted(each for each in root.iterdir() if (each / "meta.yaml").is_file())
    except OSError:
        return
    for folder in folders:
        meta = _meta(folder / "meta.yaml")
        if "experiment_id" in meta and "run_id" not in meta and "run_uuid" not in meta:
            yield folder, meta


class FileStore:
    """A cursor has the read position in each metric's file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders: dict[str, Path] = {}
        self._metas: dict[Path, tuple[int, dict[str, Any]]] = {}
        self._read_to: dict[str, dict[str, int]] = {}
        self._troubles: list[str] = []

    def runs(self) -> Iterator[StoredRun]:
        for folder, experiment in _experiments(self._root):
            if experiment.get("lifecycle_stage", "active") != "active":
                continue
            for inner in sorted(each for each in folder.iterdir() if (each / "meta.yaml").is_file()):
                meta = self._meta_of(inner / "meta.yaml")
                number = meta.get("run_id") or meta.get("run_uuid")
                if number and meta.get("lifecycle_stage", "active") == "active":
                    if str(number) not in self._folders:
                        self._troubles += [f"{path} leads elsewhere and was skipped" for path in refused_links(inner)]
                    self._folders[str(number)] = inner
                    yield _stored(inner, str(number), str(experiment.get("name") or folder.name), meta)

    def _meta_of(self, path: Path) -> dict[str, Any]:
        """Parsed again only if it has changed: YAML is slow, and folders of thousands of runs are not rare."""
        changed = path.stat().st_mtime_ns
        known = self._metas.get(path)
        if known is None or known[0] != changed:
            known = self._metas[path] = (changed, _meta(path))
            if not known[1]:
                self._troubles.append(f"{path} cannot be read; the run was skipped")
        return known[1]

    def metrics(self, run: StoredRun, cursor: Any) -> Iterator[Columns]:
        read_to = dict(cursor) if isinstance(cursor, dict) else {}
        self._read_to[run.id] = read_to
        for key, path in _files(self._folders[run.id] / "metrics"):
            start = int(read_to.get(key, 0))
            for data, end in self._lines(path, start, within=self._folders[run.id]):
                read_to[key] = end
                rows = self._rows(path, data)
                if rows:
                    yield columns_of(key, rows)

    def _lines(self, path: Path, start: int, within: Path) -> Iterator[tuple[bytes, int]]:
        """Complete lines from a position on, block by block, each with its end."""
        try:
            with open_file(path, within=within) as stream:
                while data := read_window(stream, start, _STRETCH):
                    whole = data.rfind(b"\n") + 1  # an incomplete line is still being written
                    if not whole:
                        return
                    start += whole
                    yield data[:whole], start
        except OSError as fault:
            self._troubles.append(f"{path} cannot be read: {fault}")

    def _rows(self, path: Path, data: bytes) -> list[tuple[int, float, Any]]:
        rows = []
        bad = 0
        for line in data.splitlines():
            parts = line.split()
            try:
                rows.append((int(parts[0]), float(parts[1]), int(parts[2]) if len(parts) > 2 else 0))
            except (ValueError, IndexError):
                bad += 1
        if bad:
            self._troubles.append(f"{path}: {bad:,} lines are not 'time value step' and were skipped")
        return rows

    def cursor(self, run: StoredRun) -> Any:
        return self._read_to.get(run.id, {})

    def troubles(self) -> list[str]:
        told, self._troubles = self._troubles, []
        return told


def _stored(folder: Path, number: str, experiment: str, meta: dict[str, Any]) -> StoredRun:
    tags = _values(folder, "tags")
    status, start, end = meta.get("status"), meta.get("start_time"), meta.get("end_time")
    return StoredRun(
        id=number,
        name=str(meta.get("run_name") or tags.get("mlflow.runName") or meta.get("name") or number),
        experiment=experiment,
        status=_STATUS.get(status, "RUNNING") if isinstance(status, int) else str(status or "RUNNING"),
        start=start / 1000 if isinstance(start, (int, float)) else folder.stat().st_mtime,
        end=end / 1000 if isinstance(end, (int, float)) else None,
        user=str(meta.get("user_id") or ""),
        params=_values(folder, "params"),
        tags=tags,
        artifacts=str(meta.get("artifact_uri") or ""),
        beside=folder / "artifacts",
    )


def _meta(path: Path) -> dict[str, Any]:
    try:
        content = load_yaml(read_text(path, _LARGEST_META, within=path.parent), str(path))
    except (OSError, BadData):
        return {}
    return content if isinstance(content, dict) else {}


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files below a folder by their inner path, which is the name: `val/acc` is a file in a folder."""
    for path in plain_files(folder):
        yield path.relative_to(folder).as_posix(), path


def _values(run: Path, kind: str) -> dict[str, str]:
    found = {}
    for key, path in _files(run / kind):
        try:
            with open_file(path, within=run) as stream:
                data = read_window(stream, 0, _LARGEST_VALUE)
        except OSError:
            continue
        found[key] = data.decode("utf-8", "backslashreplace").rstrip("\n")
    return found
