"""Other tools' folders as `target(data)`: changed past their first bytes, where readers already believe what they read.

A folder is its files' contents, apart by a line of their own. The first hundred bytes of a database are put right after
the change: what follows is what is tried.
"""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from stepscope.importers.detect import sources_in
from stepscope.importers.import_writer import Landing

__all__ = ["IMPORTS", "QUICK", "land", "make_mlflow_database", "make_trackio_database"]

SPLIT = b"\n--file--\n"
HEAD = 100
QUICK = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""An import syncs what it writes; nobody needs these files."""
_RUN = "0123456789abcdef0123456789abcdef"
_MLFLOW_FOLDER = {
    "mlruns/7/meta.yaml": b"experiment_id: '7'\nname: digits\nlifecycle_stage: active\n",
    f"mlruns/7/{_RUN}/meta.yaml": f"run_id: {_RUN}\nrun_name: one\nstart_time: 1700000000000\nstatus: 3\n"
    "end_time: 1700000100000\nlifecycle_stage: active\nartifact_uri: file:///gone\nuser_id: ada\n".encode(),
    f"mlruns/7/{_RUN}/metrics/loss": b"1700000000000 0.5 0\n1700000001000 nan 1\n1700000002000 -inf 2\n",
    f"mlruns/7/{_RUN}/params/lr": b"0.1",
    f"mlruns/7/{_RUN}/tags/mlflow.note.content": b"the notes",
    f"mlruns/7/{_RUN}/tags/mlflow.loggedArtifacts": b'[{"path": "table.json", "type": "table"}]',
    f"mlruns/7/{_RUN}/artifacts/table.json": b'{"columns": ["a", "b"], "data": [[1, 2], [3, "x"]]}',
}
_WANDB_FOLDER = {
    "run-1-a/files/config.yaml": b"lr: {value: 0.1, desc: null}\n_wandb: {value: {python_version: '3.12'}}\n",
    "run-1-a/files/wandb-metadata.json": b'{"os": "Linux", "host": "h", "args": ["--lr", "1"],'
    b' "gpu_devices": [{"name": "T4"}], "git": {"remote": "r", "commit": "c"}, "cpu_count": 2}',
    "run-1-a/files/wandb-summary.json": b'{"loss": 0.5, "_step": 3, "best": {"acc": 0.9}}',
    "run-1-a/files/requirements.txt": b"torch==2.13\nnumpy==2\n",
    "run-1-a/files/output.log": b"epoch 1\n\x1b[31mepoch 2\x1b[0m\n",
    "run-1-a/files/media/table/t.table.json": b'{"columns": ["a"], "data": [[1], ["x"]]}',
    "run-1-a/files/media/plotly/p.plotly.json": b'{"data": [{"type": "scatter", "y": [1, 2]}], "layout": {}}',
}


def land(folder: Path) -> int:
    """Bring in all that is found, into a store of its own; how many points."""
    store = folder / "store"
    store.mkdir()
    return sum(Landing(source, store).look().points for source in sources_in(folder / "source"))


def _in_folder(make: Callable[[Path, bytes], None]) -> Callable[[bytes], object]:
    def read(data: bytes) -> None:
        with TemporaryDirectory(prefix="stepscope-fuzz-", dir=QUICK) as place:
            make(Path(place) / "source", data)
            land(Path(place))

    return read


def _written(top: Path, names: list[str], data: bytes) -> None:
    for name, content in zip(names, data.split(SPLIT), strict=False):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _mlflow_folder(top: Path, data: bytes) -> None:
    _written(top, list(_MLFLOW_FOLDER), data)


def _wandb_folder(top: Path, data: bytes) -> None:
    """The files beside a sound log that names them."""
    _written(top, list(_WANDB_FOLDER), data)
    (top / "run-1-a").mkdir(parents=True, exist_ok=True)
    (top / "run-1-a" / "run-a.wandb").write_bytes(b":W&B\xe1\xbe\0" + b"".join(map(_record, _wandb_records())))


def _field(number: int, data: bytes) -> bytes:
    key = number << 3 | 2
    head = bytes((key,)) if key < 128 else bytes((key & 127 | 128, key >> 7))
    size = bytes((len(data),)) if len(data) < 128 else bytes((len(data) & 127 | 128, len(data) >> 7))
    return head + size + data


def _wandb_records() -> list[bytes]:
    def item(name: str, value: bytes) -> bytes:
        return _field(1, _field(2, name.encode()) + _field(16, value))

    table = b'{"_type": "table-file", "path": "media/table/t.table.json", "ncols": 1, "nrows": 2}'
    plot = b'{"_type": "plotly-file", "path": "media/plotly/p.plotly.json"}'
    run = _field(1, b"abc") + _field(3, b"digits") + _field(8, b"name")
    return [_field(17, run), _field(2, item("loss", b"0.5") + item("t", table) + item("p", plot) + item("_step", b"1"))]


def _record(part: bytes) -> bytes:
    return struct.pack("<IHB", zlib.crc32(part, zlib.crc32(b"\1")), len(part), 1) + part


def _database(name: str, seed: Callable[[], list[bytes]]) -> Callable[[Path, bytes], None]:
    def make(top: Path, data: bytes) -> None:
        top.mkdir()
        (top / name).write_bytes(seed()[0][:HEAD] + data[HEAD:])

    return make


def make_mlflow_database(path: Path, runs: list[tuple[object, ...]], metrics: list[tuple[object, ...]]) -> None:
    """MLflow's tables with these rows; columns without a type, so that every cell stays what it is."""
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE experiments (experiment_id, name, lifecycle_stage);"
            "CREATE TABLE runs (run_uuid, name, status, start_time, end_time, user_id, artifact_uri, experiment_id,"
            " lifecycle_stage); CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan);"
            "CREATE TABLE params (key, value, run_uuid); CREATE TABLE tags (key, value, run_uuid);"
            "INSERT INTO experiments VALUES (1, 'digits', 'active');"
        )
        database.executemany(f"INSERT INTO runs VALUES ({','.join('?' * 9)})", runs)
        database.executemany("INSERT INTO metrics VALUES (?,?,?,?,?,?)", metrics)
        number = runs[0][0]
        database.executemany("INSERT INTO params VALUES (?,?,?)", [("lr", "0.1", number), ("n", "[1, 2]", number)])
        database.executemany("INSERT INTO tags VALUES (?,?,?)", [("mlflow.note.content", "hello", number)])
    database.close()


def make_trackio_database(path: Path, metrics: list[tuple[object, ...]], configs: list[tuple[object, ...]]) -> None:
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp, run_name, step, metrics);"
            "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name, config, created_at);"
        )
        database.executemany("INSERT INTO metrics(timestamp, run_name, step, metrics) VALUES (?,?,?,?)", metrics)
        database.executemany("INSERT INTO configs(run_name, config, created_at) VALUES (?,?,?)", configs)
    database.close()


def _mlflow_pages() -> list[bytes]:
    run = ("r1", "one", "FINISHED", 1_700_000_000_000, 1_700_000_100_000, "ada", "", 1, "active")
    rows = [("loss", step / 4, 1_700_000_000_000 + step, "r1", step, 0) for step in range(40)]
    with TemporaryDirectory(prefix="stepscope-fuzz-") as place:
        make_mlflow_database(Path(place) / "m.db", [run], rows)
        return [(Path(place) / "m.db").read_bytes()]


def _trackio_pages() -> list[bytes]:
    when = "2026-11-15T12:00:00+00:00"
    rows: list[tuple[object, ...]] = [(when, "one", step, f'{{"loss": {step}, "a": {{"b": 1}}}}') for step in range(40)]
    with TemporaryDirectory(prefix="stepscope-fuzz-") as place:
        make_trackio_database(Path(place) / "p.db", rows, [("one", '{"lr": 0.1}', when)])
        return [(Path(place) / "p.db").read_bytes()]


def _joined(files: dict[str, bytes]) -> Callable[[], list[bytes]]:
    return lambda: [SPLIT.join(files.values())]


IMPORTS: dict[str, tuple[Callable[[bytes], object], Callable[[], list[bytes]]]] = {
    "mlflow_folder": (_in_folder(_mlflow_folder), _joined(_MLFLOW_FOLDER)),
    "wandb_folder": (_in_folder(_wandb_folder), _joined(_WANDB_FOLDER)),
    "mlflow_pages": (_in_folder(_database("mlflow.db", _mlflow_pages)), _mlflow_pages),
    "trackio_pages": (_in_folder(_database("p.db", _trackio_pages)), _trackio_pages),
}
"""By name: the reader, and sound inputs."""
