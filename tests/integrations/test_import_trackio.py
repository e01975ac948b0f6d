"""What the real trackio kept comes in with every value equal to what lies in its own database."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integrations.imported import bring, python

from stepscope.importers.import_writer import Landed
from stepscope.runs.read.folder import RunFolder

SCRIPT = """
import numpy as np, pandas as pd, trackio
trackio.init(project="pröject", name="run one", config={"lr": 0.1, "model": {"depth": 3}}, group="cross")
rng = np.random.default_rng(0)
for i in range(30):
    trackio.log({
        "loss": float(rng.normal()), "nested": {"a": i}, "nan": float("nan"), "inf": float("-inf"), "word": f"wörd {i}",
        "big": 2**60 + i, "flag": bool(i % 2),
    })
trackio.log({"image": trackio.Image(np.zeros((8, 9, 3), dtype=np.uint8), caption="dark")})
trackio.log({"table": trackio.Table(dataframe=pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))})
trackio.log({"histogram": trackio.Histogram(rng.normal(size=100))})
if hasattr(trackio, "Markdown"):
    trackio.log({"note": trackio.Markdown("# hi")})
if hasattr(trackio, "alert"):
    trackio.alert("careful", text="it grows", level=trackio.AlertLevel.WARN)
if hasattr(trackio, "log_system"):
    trackio.log_system({"gpu/0/utilization": 5.0})
trackio.log({"loss": 7.0}, step=100)
trackio.finish()
"""


@dataclass
class Written:
    run: RunFolder
    landed: Landed
    base: Path
    rows: list[tuple[str, int, dict[str, Any]]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("trackio")
    environment = {"TRACKIO_DIR": str(folder / "kept"), "GRADIO_ANALYTICS_ENABLED": "False"}
    python(SCRIPT, cwd=folder, **environment)
    (base,) = (folder / "kept").glob("*.db")
    (run,), landed = bring("trackio", folder / "kept", folder / "store")
    with sqlite3.connect(base) as database:
        rows = database.execute("SELECT timestamp, step, metrics FROM metrics ORDER BY id").fetchall()
    return Written(run, landed, base, [(when, step, json.loads(text)) for when, step, text in rows])


def test_every_number_is_equal(written: Written) -> None:
    truth: dict[str, list[tuple[int, float, Any]]] = {}
    for when, step, row in written.rows:
        flat = {
            **{k: v for k, v in row.items() if k != "nested"},
            **{f"nested/{k}": v for k, v in row.get("nested", {}).items()},
        }
        for name, value in flat.items():
            number = float(value) if value in ("NaN", "-Infinity") else value
            if isinstance(number, (int, float)):
                truth.setdefault(name, []).append((step, datetime.fromisoformat(when).timestamp(), number))
    assert written.landed.troubles == []
    assert sorted(n for n in written.run.metrics() if not n.startswith("system/")) == sorted(truth)
    for name, points in truth.items():
        series = written.run.series(name)
        assert series.steps.tolist() == [step for step, _, _ in points]
        np.testing.assert_allclose(series.times, [time for _, time, _ in points], rtol=0, atol=1e-4)
        np.testing.assert_array_equal(series.values, np.array([float(value) for _, _, value in points]))
    assert len(truth["loss"]) == 31
    assert list(written.run.series("big").exact.values()) == [2**60 + i for i in range(30)]


def test_what_the_run_is_and_its_media(written: Written) -> None:
    run = written.run
    assert (run.name, run.project, run.group) == ("run one", "pröject", "cross")
    assert run.config == {"lr": 0.1, "model/depth": 3}
    kinds = run.media_keys()
    assert [kinds[name] for name in ("image", "table", "histogram", "word")] == ["image", "table", "histogram", "text"]
    (picture,) = run.media("image")
    assert picture.meta["caption"] == "dark"
    assert run.media_bytes(picture) == next(written.base.parent.rglob("*.png")).read_bytes()
    columns = json.loads(run.media_bytes(run.media("table")[0]))["columns"]
    assert columns == ["a", "b"]


def test_a_second_look_brings_only_the_new_rows(written: Written) -> None:
    with sqlite3.connect(written.base) as database:
        names = [row[1] for row in database.execute("PRAGMA table_info(metrics)") if row[1] not in ("id", "log_id")]
        listed = ", ".join(names)
        kept = ", ".join({"step": "200", "metrics": "'{\"loss\": 0.5}'"}.get(name, name) for name in names)
        database.execute(f"INSERT INTO metrics({listed}) SELECT {kept} FROM metrics ORDER BY id LIMIT 1")
    (run,), landed = bring("trackio", written.base.parent, written.run.path.parent)
    assert (landed.points, landed.media, landed.new_runs) == (1, 0, 0)
    assert run.series("loss").steps[-1] == 200


def test_parquet_files_without_their_database_are_read_too(written: Written, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = [
        {"timestamp": when, "run_name": "run one", "step": step, "loss": row.get("loss")}
        for when, step, row in written.rows
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "space.parquet")
    (run,), landed = bring("trackio", tmp_path, tmp_path / "store")
    assert landed.troubles == []
    np.testing.assert_array_equal(run.series("loss").values[:31], written.run.series("loss").values[:31])
