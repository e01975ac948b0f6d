"""Databases whose cells hold anything, reached past the first bytes: each is imported as far as it makes sense."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from tests.faults.rounds import ROUND, note_tries, times
from tests.fuzz.imports import QUICK, land, make_mlflow_database, make_trackio_database
from tests.fuzz.limits import at_most

MANY = settings(
    max_examples=times(60), derandomize=not ROUND, database=None, deadline=None,
    suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
)  # fmt: skip
ODD = ["", "../../etc/passwd", "/etc/passwd", "a\0b", "\ud800", "{}", "[" * 500, "NaN", "1e999", "x" * 5000, "<script>"]
cells = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=True),
    st.binary(max_size=20),
    st.text(max_size=20),
    st.sampled_from([one.encode("utf-8", "replace").decode() for one in ODD]),
)
WHEN = "2026-11-15T12:00:00+00:00"
texts = st.sampled_from([
    '{"loss": 1}', "{", '{"a": {"b": [1, {"c": null}]}}', '{"_type": "trackio.table"}', '{"loss": 1e999}', "[1]",
    "null",
    '{"p": {"_type": "trackio.image", "file_path": "../../../etc/passwd"}}', '{"loss": 99999999999999999999999}',
    '{"t": {"_type": "trackio.table", "_value": [{"a": {"_type": "trackio.image", "file_path": 3}}]}}', '{"": ""}',
])  # fmt: skip


def landed(name: str, make: Any, *rows: Any) -> int:
    with TemporaryDirectory(prefix="stepscope-attack-", dir=QUICK) as place:
        top = Path(place)
        (top / "source").mkdir()
        make(top / "source" / name, *rows)
        with at_most():
            points = land(top)
        outside = b"root:x:0:0"
        assert not [path for path in (top / "store").rglob("*") if path.is_file() and outside in path.read_bytes()]
        return points


def test_sound_rows_are_read() -> None:
    note_tries(1 + 2 * MANY.max_examples)  # with those of the two tests below
    run = ("r1", "one", "FINISHED", 1_700_000_000_000, 1_700_000_100_000, "ada", "", 1, "active")
    assert landed("mlflow.db", make_mlflow_database, [run], [("loss", 0.5, 1_700_000_000_000, "r1", 0, 0)]) == 1
    assert landed("p.db", make_trackio_database, [(WHEN, "one", 0, '{"loss": 1}')], []) == 1


@MANY
@given(st.lists(st.tuples(*[cells] * 8), min_size=1, max_size=3), st.lists(st.tuples(*[cells] * 6), max_size=6))
def test_any_cells_in_a_database_of_mlflow(runs: list[tuple[Any, ...]], metrics: list[tuple[Any, ...]]) -> None:
    rows = [(*row, "active") for row in runs]
    landed("mlflow.db", make_mlflow_database, rows, [(*row[:3], runs[0][0], *row[4:]) for row in metrics])


@MANY
@given(
    st.lists(st.tuples(cells, cells, cells, cells | texts), min_size=1, max_size=4),
    st.lists(st.tuples(cells, cells | texts, cells), max_size=3),
)
def test_any_cells_in_a_database_of_trackio(metrics: list[tuple[Any, ...]], configs: list[tuple[Any, ...]]) -> None:
    landed("p.db", make_trackio_database, metrics, configs)
