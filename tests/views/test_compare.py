from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from stepscope.errors import NotFound, QueryError, UsageError
from stepscope.records import Artifact, End, Finding, FindingEvent, GitState, MetricRule
from stepscope.runs.points.grouping import band
from stepscope.runs.points.series import Series
from stepscope.views.charts import Smoothing
from stepscope.views.compare.changed import ChangedRequest, compare_changed
from stepscope.views.compare.code import CodeRequest, compare_code
from stepscope.views.compare.columns import CompareRequest, compare_columns
from stepscope.views.compare.divergence import parting
from stepscope.views.compare.facts import FactsRequest, compare_config, compare_environment
from stepscope.views.compare.lines import GroupLinesRequest, LineGroup, compare_lines
from stepscope.views.compare.metrics import MetricsRequest, SignificanceRequest, compare_metrics, compare_test
from stepscope.views.compare.reasons import config_change, package_change
from stepscope.views.context import Context

from .conftest import write_run


def seeds(store: Path, lr: float | None, values: list[float], **more: Any) -> list[str]:
    """One run for each value, that ends at it."""
    config = {} if lr is None else {"lr": lr}
    return [
        write_run(store, f"lr{lr}-{seed}", {"val/acc": [0.0, value]}, config={**config, "seed": seed}, **more)
        for seed, value in enumerate(values)
    ]


# -- columns ---------------------------------------------------------------------------------------------------------


def test_runs_are_columns_in_the_order_they_were_chosen(ctx: Context, store: Path) -> None:
    a, b = write_run(store, "a"), write_run(store, "b")
    ctx.catalogue.refresh()
    found = compare_columns(ctx, CompareRequest(runs=[b, a, b, "gone"]))
    assert [(one.id, one.label) for one in found.columns] == [(b, "b"), (a, "a")]
    assert found.gone == ["gone"]


def test_groups_come_by_value_and_runs_without_the_key_are_one_of_their_own(ctx: Context, store: Path) -> None:
    runs = seeds(store, None, [1.0]) + seeds(store, 0.1, [1.0]) + seeds(store, 0.01, [1.0, 2.0])
    ctx.catalogue.refresh()
    found = compare_columns(ctx, CompareRequest(runs=runs, by=["config.lr"]))
    assert [(one.id, one.label, len(one.runs)) for one in found.columns] == [
        ("[0.01]", "lr 0.01", 2),
        ("[0.1]", "lr 0.1", 1),
        ("[null]", "lr not set", 1),
    ]


def test_one_and_true_and_the_text_one_are_three_groups(ctx: Context, store: Path) -> None:
    runs = [write_run(store, config={"x": value}) for value in (1, True, "1", 1)]
    ctx.catalogue.refresh()
    found = compare_columns(ctx, CompareRequest(runs=runs, by=["config.x"]))
    assert sorted(len(one.runs) for one in found.columns) == [1, 1, 2]


def test_everything_but_the_seed_leaves_only_chance_inside_a_group(ctx: Context, store: Path) -> None:
    runs = seeds(store, 0.1, [1.0, 2.0]) + seeds(store, 0.2, [1.0, 2.0])
    ctx.catalogue.refresh()
    found = compare_columns(ctx, CompareRequest(runs=runs, by=["*"]))
    assert found.by == ["config.lr"]
    assert [len(one.runs) for one in found.columns] == [2, 2]


def test_what_cannot_be_grouped_by_is_refused_in_words(ctx: Context) -> None:
    with pytest.raises(QueryError, match="is not a field"):
        compare_columns(ctx, CompareRequest(runs=[], by=["git."]))
    with pytest.raises(UsageError, match="at most 1000"):
        compare_columns(ctx, CompareRequest(runs=["x"] * 1001))


# -- metrics ---------------------------------------------------------------------------------------------------------


def test_the_table_has_means_deviations_tests_and_the_best(ctx: Context, store: Path) -> None:
    low, high = [0.80, 0.82, 0.81], [0.90, 0.94, 0.92]
    runs = seeds(store, 0.1, low) + seeds(store, 0.2, high)
    ctx.catalogue.refresh()
    found = compare_metrics(ctx, MetricsRequest(runs=runs, by=["config.lr"], base="[0.1]"))
    row = found.rows[0]
    assert (row.key, row.goal, row.n, row.odd, row.differs) == ("val/acc", "max", [3, 3], [], True)
    assert row.value == pytest.approx([np.mean(low), np.mean(high)])
    assert row.std == pytest.approx([np.std(low, ddof=1), np.std(high, ddof=1)])
    assert row.best == row.value[1]
    assert found.tests == 1
    assert row.p[0] is None
    assert row.p_holm == row.p


def test_nothing_is_tested_with_one_run_a_side(ctx: Context, store: Path) -> None:
    runs = seeds(store, 0.1, [0.8]) + seeds(store, 0.2, [0.9, 0.91])
    ctx.catalogue.refresh()
    grouped = compare_metrics(ctx, MetricsRequest(runs=runs, by=["config.lr"]))
    assert (grouped.tests, grouped.rows[0].p) == (0, [])
    single = compare_metrics(ctx, MetricsRequest(runs=runs))
    assert (single.rows[0].std, single.rows[0].n, single.rows[0].p) == ([], [], [])
    detail = compare_test(ctx, SignificanceRequest(runs=runs, by=["config.lr"], metric="val/acc", a="[0.1]", b="[0.2]"))
    assert detail.p is None
    assert "two runs or more" in detail.why_not
    with pytest.raises(NotFound, match="no column"):
        compare_test(ctx, SignificanceRequest(runs=runs, metric="val/acc", a="x", b="y"))


def test_all_tests_of_the_table_are_corrected_together(ctx: Context, store: Path) -> None:
    rng = np.random.default_rng(0)
    runs = []
    for group in range(3):
        for _ in range(4):
            series = {f"m{at}/loss": [float(rng.normal(group * (at == 0), 0.1))] for at in range(5)}
            runs.append(write_run(store, series=series, config={"g": group}))
    ctx.catalogue.refresh()
    found = compare_metrics(ctx, MetricsRequest(runs=runs, by=["config.g"]))
    raw = sorted(p for row in found.rows for p in row.p if p is not None)
    holm = sorted(p for row in found.rows for p in row.p_holm if p is not None)
    assert found.tests == len(raw) == 10
    assert holm[0] == pytest.approx(raw[0] * 10)


def test_a_group_with_a_run_that_broke_says_so_and_is_not_the_best(ctx: Context, store: Path) -> None:
    runs = seeds(store, 0.1, [0.8, 0.82]) + seeds(store, 0.2, [0.99, math.nan])
    ctx.catalogue.refresh()
    row = compare_metrics(ctx, MetricsRequest(runs=runs, by=["config.lr"])).rows[0]
    assert (row.odd, row.n, row.best) == ([0, 1], [2, 1], None)
    assert row.value[1] == 0.99


def test_the_best_value_is_by_the_goal_that_was_said(ctx: Context, store: Path) -> None:
    rule = MetricRule(time=0.0, name="zeal", goal="min")
    run = write_run(store, series={"zeal": [3.0, 1.0, 2.0], "lr": [1.0, 5.0]}, events=[rule])
    ctx.catalogue.refresh()
    rows = compare_metrics(ctx, MetricsRequest(runs=[run], stat="best")).rows
    assert [(row.key, row.stat, row.value) for row in rows] == [("zeal", "min", [1.0]), ("lr", "last", [5.0])]


def test_only_the_asked_metrics_and_the_machine_only_on_request(ctx: Context, store: Path) -> None:
    run = write_run(store, series={"loss": [1.0], "acc": [1.0], "system/cpu": [5.0]})
    ctx.catalogue.refresh()
    keys = lambda **more: [row.key for row in compare_metrics(ctx, MetricsRequest(runs=[run], **more)).rows]  # noqa: E731
    assert keys() == ["loss", "acc"]
    assert keys(system=True) == ["loss", "acc", "system/cpu"]
    assert keys(metrics=["system/cpu", "none"]) == ["system/cpu"]


# -- facts and code --------------------------------------------------------------------------------------------------


def test_config_shows_only_what_differs_unless_asked(ctx: Context, store: Path) -> None:
    a = write_run(store, "a", config={"lr": 0.1, "same": 1, "net/width": [1, 2]})
    b = write_run(store, "b", config={"lr": 0.2, "same": 1})
    ctx.catalogue.refresh()
    section = compare_config(ctx, FactsRequest(runs=[a, b])).sections[0]
    assert [(row.key, row.values) for row in section.rows] == [("lr", ["0.1", "0.2"]), ("net/width", ["[1, 2]", None])]
    assert section.same == 1
    assert len(compare_config(ctx, FactsRequest(runs=[a, b], all=True)).sections[0].rows) == 3


def test_a_group_names_the_values_its_runs_have(ctx: Context, store: Path) -> None:
    runs = seeds(store, 0.1, [1.0, 2.0])
    ctx.catalogue.refresh()
    row = compare_config(ctx, FactsRequest(runs=runs, by=["config.lr"])).sections[0].rows[0]
    assert (row.key, row.values, row.mixed, row.differs) == ("seed", ["0 | 1"], [0], False)


def test_the_environment_of_two_machines(ctx: Context, store: Path) -> None:
    gpus = [{"name": "H100"}, {"name": "H100"}]
    a = write_run(store, packages={"torch": "2.9.0", "numpy": "2.1"}, hardware={"gpus": gpus}, env={"WORLD_SIZE": "2"})
    b = write_run(store, packages={"torch": "2.10.0", "numpy": "2.1"}, hardware={"gpus": gpus[:1]})
    ctx.catalogue.refresh()
    found = {one.title: one.rows for one in compare_environment(ctx, FactsRequest(runs=[a, b])).sections}
    assert [(row.key, row.values) for row in found["Packages"]] == [("torch", ["2.9.0", "2.10.0"])]
    assert [(row.key, row.values) for row in found["Machine"]] == [("gpus", ["2 x H100", "1 x H100"])]
    assert [(row.key, row.values) for row in found["Environment"]] == [("WORLD_SIZE", ["2", None])]


HEAD = "diff --git a/{0} b/{0}\nindex 1..{1} 100644\n--- a/{0}\n+++ b/{0}\n"
DIFF = HEAD + "@@ -1,2 +1,2 @@ def f():\n x = 1\n-y = 2\n+y = {1}\n"


def test_the_uncommitted_changes_of_two_runs_side_by_side(ctx: Context, store: Path) -> None:
    one = GitState(commit="c" * 40, dirty=True, diff=DIFF.format("a.py", 3) + DIFF.format("b.py", 3))
    two = GitState(commit="c" * 40, dirty=True, diff=DIFF.format("a.py", 4) + DIFF.format("b.py", 3))
    a, b = write_run(store, git=one), write_run(store, git=two)
    ctx.catalogue.refresh()
    found = compare_code(ctx, CodeRequest(a, b))
    assert found.words == "The same commit; uncommitted changes differ in 1 file."
    assert (found.same_files, found.command) == (1, "")
    assert [(line.kind, line.a, line.b) for line in found.files[0].lines] == [
        ("same", "@@ -1,2 +1,2 @@ def f():", "@@ -1,2 +1,2 @@ def f():"),
        ("same", " x = 1", " x = 1"),
        ("same", "-y = 2", "-y = 2"),
        ("differs", "+y = 3", "+y = 4"),
    ]


def test_other_commits_name_the_command_that_shows_them(ctx: Context, store: Path) -> None:
    a, b = write_run(store, git=GitState(commit="a" * 40)), write_run(store, git=GitState(commit="b" * 40))
    bare = write_run(store)
    ctx.catalogue.refresh()
    found = compare_code(ctx, CodeRequest(a, b))
    assert found.command == "git diff aaaaaaaaaaaa bbbbbbbbbbbb"
    assert found.words == "Different commits, aaaaaaaaaa and bbbbbbbbbb, without uncommitted changes."
    assert "does not say" in compare_code(ctx, CodeRequest(a, bare)).words


# -- where curves part -----------------------------------------------------------------------------------------------


def curve(values: Any) -> Series:
    return Series("loss", np.arange(len(values)), np.arange(len(values), dtype=float), values)


def test_curves_part_where_they_leave_their_noise() -> None:
    rng = np.random.default_rng(3)
    noise = [rng.normal(0, 0.05, 1000) for _ in range(2)]
    grown = np.maximum(0.0, np.arange(1000) - 600) * 0.01
    found = parting("loss", [curve(1 + noise[0])], [curve(1 + noise[1] + grown)])
    assert found is not None
    assert found.step is not None
    assert 600 <= found.step <= 640
    assert found.noise_from == "steps"
    assert found.noise == pytest.approx(0.05 * math.sqrt(2) / math.sqrt(1000 / 400), rel=0.5)


def test_two_curves_of_the_same_training_never_part() -> None:
    rng = np.random.default_rng(4)
    fall = np.exp(-np.arange(2000) / 300)
    for _ in range(20):
        pair = [curve(fall + rng.normal(0, 0.02, 2000)) for _ in range(2)]
        found = parting("loss", pair[:1], pair[1:])
        assert found is not None
        assert found.step is None


def test_one_spike_is_no_parting_and_the_spread_of_seeds_is_noise() -> None:
    flat = np.ones(300)
    spiked = flat.copy()
    spiked[100] = 50.0
    found = parting("loss", [curve(flat + 1e-3 * np.sin(np.arange(300)))], [curve(spiked)])
    assert found is not None
    assert found.step is None
    seeds = [curve(flat + shift) for shift in (-0.3, 0.0, 0.3)]
    near = parting("loss", seeds, [curve(flat + 0.2)])
    far = parting("loss", seeds, [curve(flat + 5.0)])
    assert near is not None
    assert near.step is None
    assert near.noise_from == "seeds"
    assert far is not None
    assert far.step == 0


def test_a_curve_that_is_lost_parts_there() -> None:
    broken = np.ones(100)
    broken[70:] = math.nan
    found = parting("loss", [curve(np.ones(100))], [curve(broken)])
    assert found is not None
    assert (found.step, found.a_lost, found.b_lost, found.b_end) == (70, None, 70, 1.0)


def test_curves_without_a_common_step_cannot_be_compared() -> None:
    late = Series("loss", [100, 101], [0.0, 1.0], [1.0, 2.0])
    assert parting("loss", [curve(np.ones(5))], [late]) is None
    assert parting("loss", [], [late]) is None


# -- what changed ----------------------------------------------------------------------------------------------------


def broken_pair(store: Path) -> tuple[str, str]:
    fault = Finding(rule="opt.no-zero-grad", severity="error", message="piled up", file="/w/train.py", line=4)
    good = write_run(
        store,
        "good",
        {"loss": [2.0, 1.0, 0.5]},
        config={"lr": 0.001, "seed": 1, "out_dir": "a"},
        packages={"torch": "2.9.0", "rich": "1.0"},
        events=[Artifact(time=0.0, name="cifar", type="dataset", version=1, digest="aa" * 16)],
        cwd="/w",
    )
    bad = write_run(
        store,
        "bad",
        {"loss": [2.0, 9.0, math.nan]},
        config={"lr": 0.1, "seed": 2, "out_dir": "b"},
        packages={"torch": "2.10.0", "rich": "1.0"},
        events=[
            FindingEvent(time=0.0, finding=fault),
            Artifact(time=0.0, name="cifar", type="dataset", version=2, digest="bb" * 16),
        ],
        end=End(time=1.0, status="failed", exit_code=1, error="ValueError: nan"),
        cwd="/w",
    )
    return good, bad


def test_what_changed_puts_the_likeliest_reason_first(ctx: Context, store: Path) -> None:
    good, bad = broken_pair(store)
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=[bad, good]))
    assert (found.a, found.b) == (good, bad)
    assert found.picked == "a run that fails and the most similar one that works (2 config values differ)"
    assert [(one.kind, one.key, one.likely) for one in found.changes] == [
        ("finding", "opt.no-zero-grad", "likely"),
        ("config", "lr", "likely"),
        ("data", "cifar", "likely"),
        ("package", "torch", "possible"),
        ("config", "seed", "unlikely"),
        ("config", "out_dir", "unlikely"),
    ]
    assert found.changes[0].place == "train.py:4"
    assert found.changes[1].why == "a learning rate, 100 times as large"
    assert [(one.label, one.a, one.b) for one in found.outcome][:2] == [
        ("status", "finished", "failed"),
        ("error", "none", "ValueError: nan"),
    ]
    assert found.headline.startswith(
        "Look first at `opt.no-zero-grad`, `lr`, `cifar`; 3 other differences matter less."
    )


def test_the_working_run_most_like_the_one_that_fails_is_taken(ctx: Context, store: Path) -> None:
    best = write_run(store, "best", {"loss": [0.1]}, config={"lr": 0.1, "width": 9, "depth": 9})
    alike = write_run(store, "alike", {"loss": [0.5]}, config={"lr": 0.2, "width": 1, "depth": 1, "seed": 5})
    bad = write_run(store, "bad", {"loss": [math.nan]}, config={"lr": 0.3, "width": 1, "depth": 1, "seed": 7})
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=[best, bad, alike]))
    assert (found.a, found.b) == (alike, bad)
    assert found.picked == "a run that fails and the most similar one that works (1 config value differs)"
    assert compare_changed(ctx, ChangedRequest(runs=[best, bad, alike], a=best)).b == bad
    worked = compare_changed(ctx, ChangedRequest(runs=[best, alike]))
    assert (worked.a, worked.b, worked.picked) == (best, alike, "the best and the worst by loss, lower is better")
    assert (found.labels, worked.labels) == (["Works", "Fails"], ["Better", "Worse"])
    chosen = compare_changed(ctx, ChangedRequest(runs=[best, alike], a=alike, b=best))
    assert (chosen.labels, chosen.picked) == (["Worse", "Better"], "")


def test_a_run_without_the_metric_is_not_the_worst(ctx: Context, store: Path) -> None:
    best, worst = (write_run(store, name, {"loss": [last]}) for name, last in (("best", 0.1), ("worst", 0.5)))
    other = write_run(store, "other", {"speed": [1.0]})
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=[best, worst, other]))
    assert (found.a, found.b) == (best, worst)


def test_two_runs_of_the_same_say_that_only_chance_is_left(ctx: Context, store: Path) -> None:
    runs = [write_run(store, config={"lr": 0.1}, series={"loss": [1.0, 0.5]}) for _ in range(2)]
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=runs))
    assert found.changes == []
    assert found.headline == (
        "No difference beyond noise: the one metric they share never diverges. "
        "Nothing that was recorded differs either."
    )
    assert (found.differs, found.picked) == (False, "")
    assert found.same == ["1 config value"]


def test_a_chosen_pair_stays_and_one_run_alone_is_said(ctx: Context, store: Path) -> None:
    good, bad = broken_pair(store)
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=[good, bad], a=bad, b=good))
    assert (found.a, found.b, found.picked) == (bad, good, "")
    alone = compare_changed(ctx, ChangedRequest(runs=[good]))
    assert (alone.a, alone.headline) == ("", "Choose two runs to see what changed between them.")


def test_a_value_that_tells_apart_all_that_fail_is_raised_with_its_evidence(ctx: Context, store: Path) -> None:
    runs = []
    for number in range(6):
        end = End(time=1.0, status="failed" if number < 2 else "finished")
        config = {"flavour": "sour" if number < 2 else "sweet", "lr": 0.1 * (number + 1)}
        runs.append(write_run(store, f"r{number}", {"loss": [1.0]}, config=config, end=end))
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=runs))
    change = next(one for one in found.changes if one.key == "flavour")
    assert change.likely == "likely"
    assert change.why == "all 2 that fail have sour, and none of the 4 others"


def test_groups_are_compared_by_what_all_their_runs_share(ctx: Context, store: Path) -> None:
    runs = seeds(store, 0.1, [0.8, 0.82, 0.81]) + seeds(store, 0.3, [0.4, 0.42, 0.41])
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=runs, by=["config.lr"]))
    assert (found.a, found.b) == ("[0.1]", "[0.3]")
    assert [one.key for one in found.changes] == ["lr"]
    assert found.partings[0].noise_from == "seeds"


def test_reasons_know_a_seed_a_path_and_a_small_step() -> None:
    assert config_change("data/split_seed", ("1", "2"), (1, 2)).likely == "unlikely"
    assert config_change("out_dir", ("a", "b"), ("a", "b")).likely == "unlikely"
    assert (
        config_change("optim/lr", ("0.1", "0.101"), (0.1, 0.101)).score < config_change("lr", ("1", "9"), (1, 9)).score
    )
    assert package_change("torch", "2.9.0", "2.9.1").score < package_change("torch", "1.13", "2.0").score
    assert package_change("tqdm", "1.0", "1.1").likely == "unlikely"


def test_many_numbers_of_a_group_are_told_by_their_range(ctx: Context, store: Path) -> None:
    runs = [
        write_run(store, f"{opt}-{at}", {"val/acc": [0.0, 0.5]}, config={"opt": opt, "lr": rate * (at + 1)})
        for opt, rate in (("adam", 1 / 3000), ("sgd", 1 / 300))
        for at in range(5)
    ]
    found = compare_changed(ctx, ChangedRequest(runs=runs, by=["config.opt"]))
    [change] = [one for one in found.changes if one.key == "lr"]
    assert {change.a, change.b} == {
        "5 values from 0.0003333 to 0.001667",
        "5 values from 0.003333 to 0.01667",
    }


# -- lines of groups -------------------------------------------------------------------------------------------------


def test_a_groups_line_is_the_mean_of_its_runs_and_their_range(ctx: Context, store: Path) -> None:
    values = [[1.0, 2.0, 3.0], [3.0, 6.0, 9.0], [2.0, 4.0, 3.0]]
    runs = [write_run(store, series={"loss": one}) for one in values]
    ctx.catalogue.refresh()
    ask = GroupLinesRequest(groups=[LineGroup(id="g", runs=[*runs, "gone"])], keys=["loss", "none"])
    found = compare_lines(ctx, ask)
    line = found.lines[0]
    expected = band([ctx.runs.get(run).series("loss") for run in runs])
    assert (line.run, line.key, len(found.lines), len(found.missing)) == ("g", "loss", 1, 1)
    assert line.value == pytest.approx(expected.mean.tolist())
    assert (line.low, line.high) == (expected.low.tolist(), expected.high.tolist())
    ask.spread = "std"
    wide = compare_lines(ctx, ask).lines[0]
    assert wide.high == pytest.approx((expected.mean + expected.std).tolist())


@pytest.mark.parametrize("spread", ["range", "std", "sem"])
def test_the_band_of_a_smoothed_group_is_that_of_its_smoothed_lines(
    ctx: Context, store: Path, spread: Literal["range", "std", "sem"]
) -> None:
    values = [[10.0, 2.0, 1.0], [11.0, 3.0, 1.5], [12.0, 2.5, 1.2]]
    runs = [write_run(store, series={"loss": one}) for one in values]
    ctx.catalogue.refresh()
    ask = GroupLinesRequest(groups=[LineGroup("g", runs)], keys=["loss"], spread=spread)
    raw = compare_lines(ctx, ask).lines[0]
    ask.smoothing = Smoothing("ema", 0.9)
    line = compare_lines(ctx, ask).lines[0]
    smooth = np.array([ctx.runs.get(run).series("loss").smooth("ema", 0.9).values for run in runs])
    wide = smooth.std(axis=0, ddof=1) / (np.sqrt(3) if spread == "sem" else 1)
    mean = smooth.mean(axis=0)
    low, high = (smooth.min(axis=0), smooth.max(axis=0)) if spread == "range" else (mean - wide, mean + wide)
    assert line.value == raw.value  # as it was, faintly behind
    assert line.smooth == pytest.approx(mean.tolist())
    assert line.low == pytest.approx(low.tolist())
    assert line.high == pytest.approx(high.tolist())
    assert mean[-1] > (raw.high[-1] or 0.0)  # it lags out of the raw band


def test_a_smoothed_group_has_the_gaps_of_its_runs(ctx: Context, store: Path) -> None:
    runs = [write_run(store, series={"loss": one}) for one in ([1.0, 1.0, 1.0, 1.0], [9.0, 9.0, math.nan])]
    ctx.catalogue.refresh()
    ask = GroupLinesRequest(groups=[LineGroup("g", runs)], keys=["loss"], smoothing=Smoothing("ema", 0.5))
    line = compare_lines(ctx, ask).lines[0]
    assert line.smooth is not None
    for found, expected in ((line.smooth, [5, 5, None, 1, 1]), (line.high, [9, 9, None, 1, 1])):
        assert [None if one is None or math.isnan(one) else one for one in found] == expected


def test_a_run_that_ends_early_leaves_a_gap_and_no_jump(ctx: Context, store: Path) -> None:
    runs = [write_run(store, series={"loss": one}) for one in ([1.0, 1.0, 1.0, 1.0], [9.0, 9.0, math.nan])]
    ctx.catalogue.refresh()
    line = compare_lines(ctx, GroupLinesRequest(groups=[LineGroup("g", runs)], keys=["loss"])).lines[0]
    assert line.x == [0.0, 1.0, 1.5, 2.0, 3.0]
    assert [None if math.isnan(one) else one for one in line.value if one is not None] == [5.0, 5.0, None, 1.0, 1.0]


def test_long_lines_are_brought_to_as_many_places_as_are_drawn(ctx: Context, store: Path) -> None:
    rng = np.random.default_rng(0)
    runs = [write_run(store, series={"loss": rng.normal(size=5000).tolist()}, every=0.1) for _ in range(3)]
    ctx.catalogue.refresh()
    for x in ("step", "relative", "wall"):
        ask = GroupLinesRequest(groups=[LineGroup("g", runs)], keys=["loss"], x=x, buckets=100)
        line = compare_lines(ctx, ask).lines[0]
        assert 50 <= len(line.x) <= 210
        assert np.isfinite(np.array(line.value, dtype=float)).mean() > 0.9
        assert abs(float(np.nanmean(np.array(line.value, dtype=float)))) < 0.1
    with pytest.raises(UsageError, match="buckets must be"):
        compare_lines(ctx, GroupLinesRequest(groups=[], keys=[], buckets=0))


def test_one_point_of_two_single_runs_is_not_judged_and_what_they_made_is_no_reason(ctx: Context, store: Path) -> None:
    falls = [[math.exp(-step / 40) + 0.01 * (step % 3) for step in range(200)]] * 2
    runs = [
        write_run(
            store,
            series={"loss": fall, "test/accuracy": [accuracy]},
            events=[Artifact(time=0.0, name="net", type="model", version=1, digest=digest * 16)],
        )
        for fall, accuracy, digest in zip(falls, (0.914, 0.908), ("aa", "bb"), strict=True)
    ]
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=runs))
    assert [(one.key, one.step, one.noise is None) for one in found.partings] == [
        ("loss", None, False),
        ("test/accuracy", None, True),
    ]
    assert (found.differs, found.changes) == (False, [])


@pytest.mark.parametrize("size", [1e-300, 4e300])
def test_curves_of_any_size_are_compared(ctx: Context, store: Path, size: float) -> None:
    rng = np.random.default_rng(0)
    waves = [[size * (offset + 0.01 * rng.standard_normal()) for _ in range(50)] for offset in (0.1, 0.1, 0.9, 0.9)]
    runs = [
        write_run(store, config={"arm": at // 2, "seed": at}, series={"loss": wave}) for at, wave in enumerate(waves)
    ]
    ctx.catalogue.refresh()
    for by, pair in (([], [runs[0], runs[2]]), (["config.arm"], runs)):
        (one,) = compare_changed(ctx, ChangedRequest(runs=pair, by=by)).partings
        assert one.step == 0
        assert one.noise is not None
        assert 0.001 < one.noise / size < 0.1


def test_curves_that_never_part_leave_nothing_to_explain(ctx: Context, store: Path) -> None:
    rng = np.random.default_rng(0)
    falls = [[math.exp(-step / 40) + 0.2 * rng.standard_normal() for step in range(200)] for _ in range(2)]
    runs = [
        write_run(store, config={"lr": lr}, series={"loss": fall}) for lr, fall in zip((0.1, 0.3), falls, strict=True)
    ]
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=runs))
    assert (found.differs, found.picked) == (False, "")
    assert found.headline == (
        "No difference beyond noise: the one metric they share never diverges. "
        "1 recorded difference had no visible effect."
    )


def test_how_long_a_step_took_is_no_curve_that_diverges(ctx: Context, store: Path) -> None:
    slow, fast = [700.0] * 20, [5.0] * 20
    loss = [1.0] * 10
    runs = [
        write_run(
            store,
            config={"lr": lr},
            series={"loss": loss + end, "watched/time/forward_ms": ms, "speed/steps_per_s": ms},
        )
        for lr, end, ms in ((0.1, [1.0] * 10, fast), (0.3, [9.0] * 10, slow))
    ]
    ctx.catalogue.refresh()
    found = compare_changed(ctx, ChangedRequest(runs=runs))
    assert [(one.key, one.step) for one in found.partings] == [("loss", 10)]
