"""What a collector notes of memory and modules: right, and without a trace in the training."""

from __future__ import annotations

from typing import Any
from weakref import ref

import pytest
import torch
from torch import nn

from stepscope import fence
from stepscope.events import installed_now
from stepscope.profile.collect.live_objects import live_models_and_optimizers
from stepscope.profile.collect.memory import CudaHistory, storages
from stepscope.profile.collect.module_names import module_paths, names_and_lines
from stepscope.profile.collect.module_spans import ModuleSpans
from stepscope.profile.collect.torch_window import TorchWindow, WindowOptions
from stepscope.profile.trace.python_names import MODULE_SPAN


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8))
        self.head = nn.Linear(8, 8, bias=False)
        self.tied = self.head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.tied(self.head(self.body(x)))
        return out


def trained(steps: int = 1, *, spans: bool = False, note: bool = False) -> tuple[Net, Any, list[torch.Tensor]]:
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters())
    marks = ModuleSpans()
    losses = []
    if spans:
        marks.begin()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = net(torch.randn(16, 4)).square().mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.detach())
        if note:
            storages()
    marks.end()
    return net, optimizer, losses


def test_storages_are_those_of_the_tensors() -> None:
    net, optimizer, _ = trained()
    found = storages([net], [optimizer])
    assert {name for _, _, name, _ in found["parameters"]} == {
        "body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias", "head.weight",
    }  # fmt: skip
    places = {name: (address, size, device) for address, size, name, device in found["parameters"]}
    weight = net.head.weight
    assert places["head.weight"] == (weight.untyped_storage().data_ptr(), 8 * 8 * 4, "cpu")
    assert len(found["gradients"]) == 5
    assert {name.split()[1] for _, _, name, _ in found["optimizer"]} == {"step", "exp_avg", "exp_avg_sq"}
    assert sum(size for _, size, _, _ in found["buffers"]) == 2 * 8 * 4 + 8


def test_models_and_optimizers_are_found_by_themselves() -> None:
    net, optimizer, _ = trained()
    models, optimizers = live_models_and_optimizers()
    assert any(one is net for one in models)
    assert not any(one is net.head for one in models)
    assert any(one is optimizer for one in optimizers)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_tensors_without_a_plain_storage_do_no_harm() -> None:
    net = nn.Module()
    net.meta = nn.Parameter(torch.empty(3, device="meta"))
    net.register_buffer("sparse", torch.eye(3).to_sparse())
    net.register_buffer("csr", torch.eye(3).to_sparse_csr())
    net.lazy = nn.LazyLinear(3)
    net.register_buffer("empty", torch.empty(0))
    found = storages([net], [])
    assert {name for entries in found.values() for _, _, name, _ in entries} == {"sparse"}
    assert not fence._faults


def test_a_shared_module_has_its_first_name() -> None:
    net = Net()
    paths = module_paths([net, net.body, nn.ReLU(), nn.ReLU()])
    assert paths[id(net.tied)] == ("Net", "head")
    assert paths[id(net.body)] == ("Net", "body")
    assert sorted(label for label, path in paths.values() if not path) == ["Net", "ReLU", "ReLU 2"]


def test_training_is_the_same_with_spans_and_notes() -> None:
    plain, watched = trained(3), trained(3, spans=True, note=True)
    assert [torch.equal(a, b) for a, b in zip(plain[2], watched[2], strict=True)] == [True] * 3
    assert all(torch.equal(a, b) for a, b in zip(plain[0].parameters(), watched[0].parameters(), strict=True))
    assert not fence._faults


def test_nothing_is_left_on_modules() -> None:
    call = nn.Module.__call__
    trained(1, spans=True)
    assert nn.Module.__call__ is call
    assert installed_now() == []


def test_spans_make_way_for_compiled_code() -> None:
    from torch._dynamo.utils import counters

    marks = ModuleSpans()
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
    try:
        marks.begin()
        assert installed_now() == []
    finally:
        marks.end()
        torch._dynamo.reset()
        counters.clear()


def test_a_forward_that_raises_closes_its_span() -> None:
    marks = ModuleSpans()
    net = Net()
    marks.begin()
    try:
        with torch.autograd.profiler.profile() as profile:
            with pytest.raises(RuntimeError):
                net(torch.randn(2, 3))
            torch.ones(3).cos()
    finally:
        marks.end()
    rows: Any = profile.function_events
    (later,) = [row for row in rows if row.name == "aten::cos"]
    spans = [row for row in rows if row.name.startswith(MODULE_SPAN)]
    assert len(spans) == 3
    assert all(row.time_range.end <= later.time_range.start for row in spans)


def test_modes_of_the_script_do_not_see_the_spans() -> None:
    seen: list[str] = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    net, x = Net(), torch.randn(8, 4)

    def called() -> list[str]:
        seen.clear()
        with torch.autograd.profiler.profile(), Mode():
            net(x)
        return list(seen)

    plain = called()
    marks = ModuleSpans()
    marks.begin()
    try:
        assert called() == plain
    finally:
        marks.end()


def test_a_profile_without_stacks_has_no_names() -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        torch.ones(3).sum()
    assert names_and_lines(profiler, module_paths([nn.ReLU()])) == {"modules": {}, "call_lines": {}}
    assert names_and_lines(object(), {}) == {"modules": {}, "call_lines": {}}


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what happens without a GPU")
def test_cuda_history_is_nothing_without_cuda() -> None:
    history = CudaHistory()
    history.begin()
    assert history.end() is None
    assert not fence._faults


def test_a_window_keeps_no_model_alive_and_still_knows_whose_memory_was_where() -> None:
    window = TorchWindow(torch, WindowOptions())
    net: Any = Net()
    optimizer: Any = torch.optim.SGD(net.parameters(), lr=0.1)
    window.start()
    window.mark(0)
    net(torch.randn(4, 4)).sum().backward()
    optimizer.step()
    window.mark(1)
    gone = [ref(net), ref(optimizer)]
    del net, optimizer
    assert [weak() for weak in gone] == [None, None]
    window.stop()
    assert {name for _, _, name, _ in window.storages["parameters"]} >= {"body.0.weight", "head.weight"}
    assert window.storages["gradients"]
    window.drop()
