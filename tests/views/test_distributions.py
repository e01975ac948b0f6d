"""Layers side by side: families found from names, numbers that set layers apart, whatever the files hold."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stepscope
from stepscope.errors import UsageError
from stepscope.records import Media
from stepscope.views.charts import HistogramsRequest
from stepscope.views.context import Context
from stepscope.views.distributions.distributions import DistributionsRequest, distributions
from stepscope.views.distributions.histograms import histograms
from stepscope.views.distributions.layer_names import in_rows, placed

from .conftest import histogram, write_run


def rows_of(*keys: str) -> dict[str, dict[str, str]]:
    """Which keys stand in which row and family."""
    return {layer: {one.family: one.key for one in members} for layer, members in in_rows(placed(keys)).items()}


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        (
            ["weights/fc.weight", "gradients/fc.weight", "activations/fc"],
            {
                "fc.weight": {
                    "weights": "weights/fc.weight",
                    "gradients": "gradients/fc.weight",
                    "activations": "activations/fc",
                }
            },
        ),
        (["fc.weight", "fc.weight/grad"], {"fc.weight": {"weights": "fc.weight", "gradients": "fc.weight/grad"}}),
        (
            ["activations/0", "gradients/0"],
            {"0": {"activations": "activations/0", "gradients": "gradients/0"}},
        ),
        (
            ["train/parameters/a.b", "train/grads/a.b"],
            {"train/a.b": {"weights": "train/parameters/a.b", "gradients": "train/grads/a.b"}},
        ),
        (["latent", "weights"], {"latent": {"values": "latent"}, "weights": {"values": "weights"}}),
    ],
)
def test_names_tell_layer_and_family(keys: list[str], rows: dict[str, dict[str, str]]) -> None:
    assert rows_of(*keys) == rows


def test_a_bias_keeps_its_own_row() -> None:
    rows = rows_of("weights/fc.weight", "weights/fc.bias", "activations/fc")
    assert list(rows) == ["fc.weight", "fc.bias"]
    assert set(rows["fc.weight"]) == {"weights", "activations"}


def test_layers_come_in_the_order_they_were_logged(ctx: Context, store: Path) -> None:
    rng = np.random.default_rng(0)
    with stepscope.init("demo", "deep", dir=store, console=False, system=False, git=False) as run:
        names = [f"activations/net.{number}" for number in (0, 2, 10, 1)]
        run.log({name: stepscope.Histogram(rng.normal(0, 1, 50)) for name in names}, step=0)
    found = distributions(ctx, DistributionsRequest([run.id]))
    assert [layer.name for layer in found.layers] == ["net.0", "net.2", "net.10", "net.1"]
    assert found.families == ["activations"]


def test_layers_keep_their_order_though_the_worker_cannot_follow(ctx: Context, store: Path) -> None:
    """More at once than may wait: some are written by the caller, before what came first."""
    rng, held = np.random.default_rng(0), threading.Event()
    names = [f"weights/net.{number}" for number in range(99, -1, -1)]
    with stepscope.init("demo", "deep", dir=store, console=False, system=False, git=False) as run:
        run._sink._worker.do(lambda: held.wait(30) and None)
        for step in range(2):
            run.log({name: stepscope.Histogram(rng.normal(0, 1, 50)) for name in names}, step=step)
        held.set()
    found = distributions(ctx, DistributionsRequest([run.id]))
    assert [f"weights/{layer.name}" for layer in found.layers] == names


def test_numbers_of_a_cell_are_those_of_its_values(ctx: Context, store: Path) -> None:
    first, last = np.linspace(-1, 1, 200), np.concatenate((np.zeros(95), np.linspace(0, 10, 5)))
    with stepscope.init("demo", "one", dir=store, console=False, system=False, git=False) as run:
        run.log({"weights/a": stepscope.Histogram(first)}, step=0)
        run.log({"weights/a": stepscope.Histogram(np.array([0.0, np.nan, np.inf]))}, step=5)
        run.log({"weights/a": stepscope.Histogram(last)}, step=10)
    (cell,) = distributions(ctx, DistributionsRequest([run.id])).layers[0].cells
    assert (cell.count, cell.first_step, cell.last_step, cell.bad) == (3, 0, 10, 2)
    assert (cell.low, cell.high) == (-1.0, 10.0)
    assert (cell.mean, cell.std) == pytest.approx((last.mean(), last.std()))
    moved = math.hypot(last.mean() - first.mean(), last.std() - first.std()) / first.std()
    assert cell.moved == pytest.approx(moved)
    assert cell.stuck == pytest.approx(0.97)


def test_several_runs_share_a_row_and_a_deleted_one_is_left_out(ctx: Context, store: Path) -> None:
    ids = [write_run(store, f"r{n}", media=[histogram("weights/a", 0, [0, 1, 2], [n, 1])]) for n in (1, 2)]
    found = distributions(ctx, DistributionsRequest([*ids, "01AAAAAAAAAAAAAAAAAAAAAAAA"]))
    assert [[cell.run for cell in layer.cells] for layer in found.layers] == [ids]


def test_odd_meta_and_damaged_bytes_are_unknown_not_an_error(ctx: Context, store: Path) -> None:
    meta: dict[str, Any] = {"mean": "0", "std": True, "min": float("nan"), "max": None, "nan": "many"}
    bad = Media(key="weights/a", step=0, time=0.0, kind="histogram", meta=meta)
    run = write_run(store, "odd", media=[(bad, b"not a histogram")])
    (cell,) = distributions(ctx, DistributionsRequest([run])).layers[0].cells
    assert (cell.mean, cell.std, cell.low, cell.high, cell.moved, cell.stuck, cell.bad) == (None,) * 6 + (0,)


def test_no_histograms_and_no_runs_are_empty(ctx: Context, store: Path) -> None:
    run = write_run(store, "plain", {"loss": [1.0]})
    assert distributions(ctx, DistributionsRequest([run])).layers == []
    assert distributions(ctx, DistributionsRequest([])).families == []


def test_too_many_runs_are_refused(ctx: Context) -> None:
    with pytest.raises(UsageError, match="at most 24 runs at once, not 30"):
        distributions(ctx, DistributionsRequest([str(n) for n in range(30)]))


def test_tails_may_lie_beyond_the_edges(ctx: Context, store: Path) -> None:
    edges = [float(edge) for edge in range(11)]
    run = write_run(store, "far", media=[histogram("weights/a", 0, edges, [1000, 1000, 0, 0, 0, 0, 0, 0, 0, 2])])
    whole = histograms(ctx, HistogramsRequest(run=run, key="weights/a", bins=4))
    assert (whole.edges[0], whole.edges[-1], sum(whole.counts[0])) == (0.0, 10.0, 2002.0)
    near = histograms(ctx, HistogramsRequest(run=run, key="weights/a", bins=4, tails=0.01))
    assert near.edges[-1] < 2.01
    assert sum(near.counts[0]) == pytest.approx(2002.0 * 0.99, rel=1e-3)
    assert near.percentiles[0][-1] == 10.0
    with pytest.raises(UsageError, match="tails"):
        histograms(ctx, HistogramsRequest(run=run, key="weights/a", tails=0.5))


def test_a_constant_tensor_is_one_value_however_wide_its_bins(ctx: Context, store: Path) -> None:
    with stepscope.init("p", "flat", dir=store, console=False, system=False, git=False) as run:
        run.log({"gradients/a": stepscope.Histogram([0.0] * 50)}, step=0)
    ctx.catalogue.refresh()
    found = histograms(ctx, HistogramsRequest(run=run.id, key="gradients/a", bins=5))
    assert found.counts == [[0.0, 0.0, 50.0, 0.0, 0.0]]
    assert set(found.percentiles[0]) == {0.0}
