from __future__ import annotations

import math
from pathlib import Path

from stepscope.records import Media, MetricRule
from stepscope.views.charts import PanelInfo, PanelsRequest, SeriesRequest, panels
from stepscope.views.context import Context
from stepscope.views.panel_order import in_order
from stepscope.views.series import draw

from .conftest import write_run


def panel(key: str, kind: str = "scalar") -> PanelInfo:
    return PanelInfo(key=key, kind=kind, section=key.partition("/")[0] if "/" in key else "", runs=1)


def keys(found: list[PanelInfo]) -> list[str]:
    return [one.key for one in found]


def test_losses_come_first_then_other_numbers_then_media_and_the_machine_last() -> None:
    mixed = [panel("epoch"), panel("lr"), panel("about", "text"), panel("samples", "image"), panel("system/cpu")]
    mixed += [panel("weights/a", "histogram"), panel("val/loss"), panel("train/grad_norm"), panel("train/loss")]
    mixed += [panel("probe/accuracy")]
    assert keys(in_order(mixed)) == [
        "train/loss",
        "train/grad_norm",
        "val/loss",
        "probe/accuracy",
        "lr",
        "epoch",
        "samples",
        "about",
        "weights/a",
        "system/cpu",
    ]


def test_what_stepscope_records_comes_after_the_results_of_the_script() -> None:
    recorded = [panel("watched/loss"), panel("time/data_ms"), panel("lr")]
    assert keys(in_order(recorded)) == ["watched/loss", "time/data_ms", "lr"]
    assert keys(in_order([*recorded, panel("val/acc")])) == ["val/acc", "lr", "watched/loss", "time/data_ms"]


def test_media_without_a_prefix_follow_the_metrics() -> None:
    mixed = [panel("samples", "image"), panel("train/loss"), panel("val/loss"), panel("lr")]
    assert keys(in_order(mixed)) == ["train/loss", "val/loss", "lr", "samples"]


def test_a_metric_with_a_goal_comes_before_all_others_and_an_axis_after_them() -> None:
    found = in_order([panel("loss"), panel("a/tokens"), panel("a/zeal"), panel("a/beta")], {"a/zeal"}, {"a/tokens"})
    assert keys(found) == ["a/zeal", "a/beta", "a/tokens", "loss"]


def test_names_are_in_the_order_people_count() -> None:
    assert keys(in_order([panel("b/10"), panel("b/9"), panel("A/1")])) == ["A/1", "b/9", "b/10"]


def test_the_panels_of_runs_know_goals_and_axes(ctx: Context, store: Path) -> None:
    rule = MetricRule(time=0.0, name="score", goal="max", x="tokens")
    run = write_run(store, series={"loss": [1.0], "tokens": [5.0], "score": [0.1]}, events=[rule])
    ctx.catalogue.refresh()
    found = panels(ctx, PanelsRequest(runs=[run]))
    assert [(one.key, one.x) for one in found.panels] == [("score", "tokens"), ("loss", None), ("tokens", None)]


def test_an_embedding_with_pictures_is_an_embedding(ctx: Context, store: Path) -> None:
    vectors = Media(key="codes", step=0, time=0.0, kind="embedding", index=0, count=2)
    sheet = Media(key="codes", step=0, time=0.0, kind="image", mime="image/png", index=1, count=2)
    run = write_run(store, media=[(vectors, b"\0" * 32), (sheet, b"\x89PNG")])
    ctx.catalogue.refresh()
    assert [(one.key, one.kind) for one in panels(ctx, PanelsRequest(runs=[run])).panels] == [("codes", "embedding")]


def test_a_line_says_exactly_where_it_stops_being_finite(ctx: Context, store: Path) -> None:
    values = [1.0] * 1000
    values[123], values[124], values[777], values[801] = math.nan, math.nan, math.inf, -math.inf
    run = write_run(store, series={"loss": values, "back": [-float(n) for n in range(1000)]})
    ctx.catalogue.refresh()
    folder = ctx.runs.get(run)
    line = draw(folder.series("loss"), None, 1, SeriesRequest(runs=[run], keys=["loss"], buckets=10))
    assert (line.nan, line.nan_x) == ([1], [123.0])
    assert (line.inf, line.inf_x) == ([7, -9], [777.0, 801.0])
    over = draw(folder.series("loss"), folder.series("back"), 1, SeriesRequest(runs=[run], keys=["loss"], buckets=10))
    assert (over.nan_x, over.inf_x) == ([-124.0], [-777.0, -801.0])
