"""Lines: every spike is there, NaN and Inf are marked, nothing is computed twice, JSON is valid."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stepscope.errors import UsageError
from stepscope.runs.format.meta import read_meta
from stepscope.runs.write.writer import RunWriter
from stepscope.views import series as series_view
from stepscope.views.charts import PanelInfo, PanelsRequest, SeriesRequest, Smoothing, panels
from stepscope.views.context import Context
from stepscope.views.series import series

from .conftest import write_run


def lines(ctx: Context, **request: Any) -> list[dict[str, Any]]:
    """The lines as the page gets them."""
    data = msgspec.json.encode(series(ctx, SeriesRequest(**request)))
    found: list[dict[str, Any]] = json.loads(
        data, parse_constant=lambda name: pytest.fail(f"{name} is not valid JSON")
    )["lines"]
    return found


def test_few_points_come_as_they_are(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [3.0, 2.0, 1.0]})
    [line] = lines(ctx, runs=[run], keys=["loss", "no such key"])
    assert (line["x"], line["value"], line["low"], line["high"]) == ([0, 1, 2], [3, 2, 1], [3, 2, 1], [3, 2, 1])
    assert (line["run"], line["key"], line["points"], line["last"], line["smooth"]) == (run, "loss", 3, 1.0, None)


def test_a_spike_of_one_step_survives_the_thinning(ctx: Context, store: Path) -> None:
    values = [0.0] * 5000
    values[1234] = 99.0
    run = write_run(store, series={"loss": values})
    [line] = lines(ctx, runs=[run], keys=["loss"], buckets=50)
    assert (len(line["x"]), max(line["high"]), line["points"]) == (50, 99.0, 5000)
    [near] = lines(ctx, runs=[run], keys=["loss"], buckets=50, lo=1230, hi=1240)
    assert near["x"] == list(range(1229, 1242))  # and one beyond each end, so that the line enters and leaves
    assert near["value"][5] == 99.0


def test_nan_and_infinity_are_marked_where_they_are(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0, math.nan, math.inf, -math.inf, 2.0]})
    [line] = lines(ctx, runs=[run], keys=["loss"])
    assert line["value"] == [1.0, None, None, None, 2.0]
    assert (line["nan"], line["inf"]) == ([1], [2, -4])
    last = write_run(store, series={"loss": [math.nan]})
    ctx.catalogue.refresh()
    assert lines(ctx, runs=[last], keys=["loss"])[0]["last"] is None


@pytest.mark.parametrize("kind", ["ema", "gaussian", "mean"])
def test_smoothing_is_made_from_all_points(ctx: Context, store: Path, kind: Any) -> None:
    run = write_run(store, series={"loss": [0.0, 10.0] * 500})
    amount = 0.9 if kind == "ema" else 9
    [line] = lines(ctx, runs=[run], keys=["loss"], buckets=20, smoothing=Smoothing(kind=kind, amount=amount))
    assert len(line["smooth"]) == 20
    assert all(3 < value < 7 for value in line["smooth"][2:])


def test_any_series_can_be_the_axis(ctx: Context, store: Path) -> None:
    run = write_run(store, "with", series={"loss": [3.0, 2.0, 1.0], "epoch": [0.0, 0.5, 1.0]})
    other = write_run(store, "without", series={"loss": [1.0]})
    request = SeriesRequest(runs=[run, other], keys=["loss"], x="epoch")
    answer = series(ctx, request)
    assert answer.missing == [f"without ({other}) has no series 'epoch' to draw over"]
    [line] = lines(ctx, runs=[run], keys=["loss"], x="epoch")
    assert line["x"] == [0.0, 0.5, 1.0]
    [wall] = lines(ctx, runs=[run], keys=["loss"], x="wall")
    assert abs(wall["x"][0] - time.time()) < 60


def test_a_run_that_is_gone_is_said_and_the_others_come(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0]})
    answer = series(ctx, SeriesRequest(runs=["0" * 26, run], keys=["loss"]))
    assert len(answer.lines) == 1
    assert answer.missing[0].startswith("there is no run '000")


def test_points_that_a_resume_replaced_come_when_asked_for(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [5.0, 5.0, 5.0]})
    again = RunWriter(store / run, run_id=run, attempt=1, first_step=1, heartbeat_s=0, fsync_s=0)
    row = again.keyset(("loss",))
    for step in (1, 2):
        row.write(step, (1.0,))
    again.close()
    [line] = lines(ctx, runs=[run], keys=["loss"])
    assert line["value"] == [5.0, 1.0, 1.0]
    now, before = lines(ctx, runs=[run], keys=["loss"], superseded=True)
    assert (now["superseded"], before["superseded"], before["value"]) == (False, True, [5.0, 5.0])


def test_ranks_come_when_asked_for(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0]})
    other = RunWriter(store / run, run_id=run, rank=1, heartbeat_s=0, fsync_s=0)
    other.keyset(("loss",)).write(0, (2.0,))
    other.close()
    assert [line["rank"] for line in lines(ctx, runs=[run], keys=["loss"])] == [0]
    assert [(line["rank"], line["last"]) for line in lines(ctx, runs=[run], keys=["loss"], ranks=True)] == [
        (0, 1),
        (1, 2),
    ]


def test_an_unchanged_line_is_drawn_once_and_a_growing_one_again(
    ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    draw = series_view.draw
    monkeypatch.setattr(series_view, "draw", lambda found, *rest: drawn.append(found.name) or draw(found, *rest))
    monkeypatch.setattr("stepscope.views.open_runs.FRESH_S", 0.0)
    run = write_run(store, series={"loss": [1.0, 2.0], "acc": [0.5]}, end=None)
    for _ in range(3):
        lines(ctx, runs=[run], keys=["loss", "acc"])
    assert drawn == ["loss", "acc"]
    more = RunWriter(store / run, run_id=run, heartbeat_s=0, fsync_s=0)
    more.keyset(("loss",)).write(2, (3.0,))
    more.flush()
    ctx.catalogue.refresh()
    assert lines(ctx, runs=[run], keys=["loss", "acc"])[0]["last"] == 3.0
    assert drawn == ["loss", "acc", "loss"]
    more.close()


def test_the_cache_stays_within_its_bytes(ctx: Context, store: Path) -> None:
    ctx.lines = series_view.LineCache(most_bytes=3000)
    run = write_run(store, series={"loss": [1.0] * 50})
    for width in range(1, 50):
        lines(ctx, runs=[run], keys=["loss"], buckets=width)
    assert ctx.lines._bytes <= 3000
    assert ctx.lines._bytes == sum(kept.size for kept in ctx.lines._kept.values())


def test_too_slow_an_answer_is_cut_and_says_so(ctx: Context, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [write_run(store, series={"loss": [1.0]}) for _ in range(3)]
    monkeypatch.setattr(series_view, "TIME_S", -1.0)
    answer = series(ctx, SeriesRequest(runs=ids, keys=["loss"]))
    assert (answer.partial, answer.lines) == (True, [])


@pytest.mark.parametrize(
    "wrong", [{"buckets": 0}, {"buckets": 10**9}, {"lo": math.nan}, {"hi": math.inf}, {"runs": ["a"] * 2000}]
)
def test_unreasonable_requests_are_refused(ctx: Context, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        series(ctx, SeriesRequest(**{"runs": [], "keys": [], **wrong}))


def test_a_run_read_before_its_folder_moves_is_read_anew(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0]})
    lines(ctx, runs=[run], keys=["loss"])
    assert read_meta(store / run).id == run
    (store / "team").mkdir()
    (store / run).rename(store / "team" / run)
    ctx.catalogue.refresh()
    assert ctx.runs.get(run).path == store / "team" / run


def test_panels_are_sorted_by_section_the_loss_first_and_the_machine_last(ctx: Context, store: Path) -> None:
    one = write_run(
        store, series={"train/loss": [1.0], "system/cpu": [1.0], "lr": [1.0], "layer10": [0], "layer2": [0]}
    )
    two = write_run(store, series={"train/loss": [1.0]})
    assert panels(ctx, PanelsRequest(runs=[one, two, "0" * 26])).panels == [
        PanelInfo(key="train/loss", kind="scalar", section="train", runs=2),
        PanelInfo(key="layer2", kind="scalar", section="", runs=1),
        PanelInfo(key="layer10", kind="scalar", section="", runs=1),
        PanelInfo(key="lr", kind="scalar", section="", runs=1),
        PanelInfo(key="system/cpu", kind="scalar", section="system", runs=1),
    ]
