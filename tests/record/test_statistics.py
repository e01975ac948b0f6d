"""What a tensor holds."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from stepscope.record.recorder import Recorder
from stepscope.record.statistics import Pending, StatisticsObserver, _on_device, measure, resolve, stats_of
from stepscope.records.step import Stats

NAN, INF = math.nan, math.inf


def test_counts_and_numbers_over_what_is_finite() -> None:
    assert stats_of(torch.tensor([1.0, NAN, INF, -INF, 0.0, 3.0])) == Stats(
        numel=6, nan=1, pos_inf=1, neg_inf=1, zeros=1, min=0.0, max=3.0, mean=4 / 3, std=pytest.approx(1.2472191),
        norm=pytest.approx(math.sqrt(10)),
    )  # fmt: skip


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int8]
)
def test_every_type_gives_the_same_numbers(dtype: torch.dtype) -> None:
    found = stats_of(torch.tensor([0, 1, 2, 5], dtype=dtype))
    assert found is not None
    assert (found.numel, found.zeros, found.min, found.max, found.mean) == (4, 1, 0.0, 5.0, 2.0)
    assert found.norm == pytest.approx(math.sqrt(30))
    assert found.std == pytest.approx(math.sqrt(3.5))


def test_booleans_empty_scalars_and_what_has_no_values() -> None:
    assert stats_of(torch.tensor([True, True, False, False])) == Stats(
        numel=4, zeros=2, min=0.0, max=1.0, mean=0.5, std=pytest.approx(0.5), norm=pytest.approx(math.sqrt(2))
    )
    assert stats_of(torch.empty(0)) == Stats(numel=0)
    assert stats_of(torch.tensor(3.0)) == Stats(numel=1, min=3.0, max=3.0, mean=3.0, std=0.0, norm=3.0)
    assert stats_of(torch.empty(2, device="meta")) is None
    assert stats_of(torch.tensor([NAN])) == Stats(numel=1, nan=1)


def test_complex_numbers_by_magnitude() -> None:
    found = stats_of(torch.tensor([3 + 4j, 0j, complex(NAN, 0), complex(INF, 0)]))
    assert found == Stats(
        numel=4, nan=1, pos_inf=1, zeros=1, min=0.0, max=5.0, mean=2.5, std=pytest.approx(2.5), norm=5.0
    )


@pytest.mark.filterwarnings("ignore:Sparse")
def test_a_sparse_tensor_counts_the_zeros_it_does_not_hold() -> None:
    dense = torch.tensor([[0.0, 2.0], [0.0, 6.0]])
    wanted = stats_of(dense)
    assert wanted is not None
    for sparse in (dense.to_sparse(), dense.to_sparse_csr()):
        found = stats_of(sparse)
        assert found is not None
        assert (found.numel, found.zeros, found.min, found.max, found.mean) == (4, 2, 0.0, 6.0, 2.0)
        assert found.std == pytest.approx(wanted.std)


@pytest.mark.filterwarnings("ignore:torch.quantize")
def test_a_quantised_tensor_by_what_it_stands_for() -> None:
    found = stats_of(torch.quantize_per_tensor(torch.tensor([0.0, 1.0]), 0.5, 0, torch.qint8))
    assert found is not None
    assert (found.zeros, found.max, found.mean) == (1, 1.0, 0.5)


def test_a_spread_that_the_mean_dwarfs_and_squares_beyond_float32() -> None:
    torch.manual_seed(0)
    far = torch.randn(100_000) + 1e4
    found = stats_of(far)
    assert found is not None
    assert found.std == pytest.approx(float(far.double().std()), rel=1e-3)
    huge = stats_of(torch.tensor([3e30, 4e30]))
    assert huge is not None
    assert huge.norm == pytest.approx(5e30)
    tiny = stats_of(torch.tensor([3e-30, 4e-30]))
    assert tiny is not None
    assert tiny.norm == pytest.approx(5e-30)


def test_a_long_norm_is_exact() -> None:
    values = torch.full((1 << 20,), 0.1)
    values[0] = 0.2
    found = stats_of(values)
    assert found is not None
    assert found.norm == pytest.approx(float(values.double().norm()), rel=1e-5)


@pytest.mark.parametrize(
    "values",
    [
        torch.tensor([1.0, NAN, INF, -INF, 0.0, 3.0]),
        torch.tensor([1, 0, 5]),
        torch.tensor([True, False]),
        torch.tensor([3 + 4j, complex(NAN, 1)]),
        torch.tensor([NAN, NAN]),
        torch.tensor([2.0, 65504.0], dtype=torch.float16),
    ],
)
def test_what_is_computed_on_a_device_is_the_same(values: torch.Tensor) -> None:
    here = stats_of(values)
    there = resolve([Pending(values.numel(), _on_device(values))])[0]
    assert here is not None
    assert there is not None
    for field in Stats.__struct_fields__:
        assert getattr(there, field) == pytest.approx(getattr(here, field)), field


def test_looking_draws_no_random_number_and_leaves_no_trace_in_the_graph() -> None:
    before = torch.get_rng_state()
    x = torch.randn(5, requires_grad=True)
    torch.set_rng_state(before)
    y = x.exp()
    version, node = y._version, y.grad_fn
    with torch.autocast("cpu"):
        measure(y)
    assert (y._version, y.grad_fn) == (version, node)
    assert torch.equal(torch.get_rng_state(), before)


def test_inside_vmap_there_is_nothing_to_look_at() -> None:
    seen: list[Any] = []

    def inside(x: torch.Tensor) -> torch.Tensor:
        seen.append(measure(x))
        return x * 2

    torch.vmap(inside)(torch.ones(3))
    assert seen == [None]


def test_a_recorded_op_carries_what_it_read_and_wrote() -> None:
    x = torch.tensor([1.0, 4.0], requires_grad=True)
    recorder = Recorder(observers=[StatisticsObserver()])
    with recorder:
        y = x.sqrt()
        y.detach().clone().mul_(2)
        torch.empty(3)
        y.sum().backward()
    assert recorder.record is not None
    ops = {op.name: op for op in recorder.record.ops}
    root = ops["sqrt"]
    assert root.input_stats is not None
    assert root.output_stats is not None
    assert root.input_stats[0] is not None
    assert root.output_stats[0] is not None
    assert (root.input_stats[0].max, root.output_stats[0].max) == (4.0, 2.0)
    assert ops["mul_"].output_stats is not None
    assert ops["mul_"].output_stats[0] is not None
    assert ops["mul_"].output_stats[0].max == 4.0
    assert ops["empty"].output_stats is None
    assert ops["SumBackward0"].output_stats is not None
