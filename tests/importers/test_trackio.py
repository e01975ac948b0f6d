"""trackio's databases with rows that are odd, and files that are not where they should be."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from stepscope.importers import trackio
from stepscope.importers.import_writer import Landing
from stepscope.runs.catalogue.run_list import runs

METRICS = "CREATE TABLE metrics (id INTEGER PRIMARY KEY, timestamp TEXT, run_name TEXT, step INTEGER, metrics TEXT)"
CONFIGS = "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name TEXT, config TEXT, created_at TEXT)"
WHEN = "2026-11-15T12:00:00+00:00"


def write(path: Path, *rows: tuple[str, int, str]) -> None:
    with sqlite3.connect(path) as database:
        database.execute(METRICS)
        database.execute(CONFIGS)
        for name, step, text in rows:
            database.execute(
                "INSERT INTO metrics(timestamp, run_name, step, metrics) VALUES (?,?,?,?)", (WHEN, name, step, text)
            )
        database.execute("INSERT INTO configs(run_name, config, created_at) VALUES ('empty', '{\"a\": 1}', ?)", (WHEN,))


def test_odd_rows_cost_only_themselves(tmp_path: Path) -> None:
    write(
        tmp_path / "p.db",
        ("one", 0, '{"loss": 0.5, "a/b": {"c": 1}}'),
        ("one", 1, "no json"),
        (
            "one",
            2,
            '{"loss": "NaN", "list": [1, 2], "picture": {"_type": "trackio.image", "file_path": "../../x.png"}}',
        ),
        ("one", 2, '{"loss": 1}'),
        ("two", 0, '{"loss": "Infinity"}'),
    )
    source = trackio.find(tmp_path)
    assert source is not None
    store = tmp_path / "store"
    store.mkdir()
    landed = Landing(source, store).look()
    found = {run.name: run for run in runs(store)}
    assert sorted(found) == ["empty", "one", "two"]
    assert [str(value) for value in found["one"].series("loss").values] == ["0.5", "nan", "1.0"]
    assert found["one"].series("loss").steps.tolist() == [0, 2, 2]
    assert found["one"].series("a/b/c").values.tolist() == [1.0]
    assert found["one"].media_keys() == {"list": "text"}
    assert found["empty"].config == {"a": 1}
    assert landed.troubles == ["p: 'picture' at step 2 (image): its file '../../x.png' is outside the run's folder"]


def test_other_databases_are_not_taken_for_projects(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE metrics (key TEXT)")
        database.execute("CREATE TABLE configs (key TEXT)")
    (tmp_path / "y.parquet").write_bytes(b"PAR1")
    assert trackio.find(tmp_path) is None
    assert trackio.find(tmp_path / "nothing") is None
