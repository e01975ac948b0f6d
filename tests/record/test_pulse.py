"""Loss, gradient norm and learning rate of every step."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim import optimizer as torch_optimizer
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from stepscope import fence
from stepscope.events.quiet import quietly
from stepscope.record import gradient_norm, pulse as pulse_module
from stepscope.record.device_reads import Arrivals
from stepscope.record.pulse import Beat, Pulse


def make() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def norm_of(model: nn.Module) -> float:
    return math.sqrt(sum(float(p.grad.double().square().sum()) for p in model.parameters() if p.grad is not None))


def test_every_step_has_its_loss_norm_and_rate() -> None:
    model, optimizer = make()
    wanted = []
    with Pulse() as pulse:
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(torch.randn(3, 4)).square().sum()
            loss.backward()
            wanted.append((float(loss.detach()), norm_of(model)))
            optimizer.step()
    assert [(beat.loss, pytest.approx(beat.grad_norm)) for beat in pulse.beats] == wanted
    assert [(beat.step, beat.lr, beat.backwards, beat.optimizer) for beat in pulse.beats] == [
        (step, 0.01, 1, "Adam") for step in range(3)
    ]
    assert all(beat.ok for beat in pulse.beats)


def test_training_is_bitwise_the_same_and_nothing_stays() -> None:
    def train(watched: bool) -> list[torch.Tensor]:
        model, optimizer = make()
        losses = []
        with Pulse() if watched else contextlib.nullcontext():
            for _ in range(4):
                optimizer.zero_grad()
                loss = model(torch.randn(3, 4)).square().sum()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
                losses.append(loss.detach())
        return [*losses, *model.state_dict().values(), torch.get_rng_state()]

    before = (torch.autograd.__dict__["_engine_run_backward"], dict(torch_optimizer._global_optimizer_pre_hooks))
    assert all(torch.equal(a, b) for a, b in zip(train(True), train(False), strict=True))
    assert (
        torch.autograd.__dict__["_engine_run_backward"],
        dict(torch_optimizer._global_optimizer_pre_hooks),
    ) == before


def test_the_norm_of_clipping_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model, optimizer = make()
    taken = []
    monkeypatch.setattr(pulse_module, "total_norm", lambda gradients: taken.append(1))
    with Pulse() as pulse:
        model(torch.randn(3, 4)).square().sum().backward()
        norm = norm_of(model)
        nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
        optimizer.step()
    assert taken == []
    assert pulse.last is not None
    assert pulse.last.grad_norm == pytest.approx(norm)  # as it was before clipping


def test_a_norm_over_some_of_the_gradients_is_not_taken_for_all() -> None:
    model, optimizer = make()
    with Pulse() as pulse:
        model(torch.randn(3, 4)).square().sum().backward()
        nn.utils.clip_grad_norm_(list(model.parameters())[:1], 1e9)
        optimizer.step()
    assert pulse.last is not None
    assert pulse.last.grad_norm == pytest.approx(norm_of(model))


def test_a_bad_loss_is_flagged_and_shown_before_its_backward() -> None:
    model, optimizer = make()
    seen: list[Any] = []
    with Pulse(on_bad_loss=lambda loss: seen.append(loss.grad_fn.name())) as pulse:
        (model(torch.randn(3, 4)) * math.inf).sum().backward()
        optimizer.step()
    assert seen == ["SumBackward0"]
    assert pulse.last is not None
    assert (pulse.last.bad_loss, pulse.last.bad_gradient, pulse.last.ok) == (True, True, False)


def test_a_bad_gradient_under_a_good_loss() -> None:
    weight = nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    with Pulse() as pulse:
        weight.sqrt().sum().backward()
        optimizer.step()
    assert pulse.last is not None
    assert (pulse.last.bad_loss, pulse.last.bad_gradient) == (False, True)


def test_accumulation_closures_and_checkpoints() -> None:
    model, optimizer = make()
    heard: list[Beat] = []
    with Pulse(on_beat=heard.append):
        for _ in range(3):
            checkpoint(model, torch.randn(3, 4, requires_grad=True), use_reentrant=True).sum().backward()
        optimizer.step()
        torch.autograd.grad(model(torch.randn(3, 4)).sum(), list(model.parameters()))
        optimizer.step()
    assert [beat.backwards for beat in heard] == [3, 0]
    assert heard[1].loss is None


def test_half_precision_gradients_do_not_overflow_the_norm() -> None:
    weight = nn.Parameter(torch.zeros(4, dtype=torch.float16))
    weight.grad = torch.full((4,), 60000.0, dtype=torch.float16)
    with Pulse() as pulse:
        torch.optim.SGD([weight], lr=0.0).step()
    assert pulse.last is not None
    assert pulse.last.grad_norm == pytest.approx(120000, rel=1e-3)


def test_a_scaled_loss_is_told_as_it_was_before_scaling() -> None:
    model, optimizer = make()
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    with Pulse() as pulse:
        loss = model(torch.ones(3, 4)).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert pulse.beats[0].loss == pytest.approx(loss.item())


def test_a_fault_of_a_listener_never_reaches_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    model, optimizer = make()
    told: list[str] = []
    monkeypatch.setattr(fence, "report", lambda where, fault: told.append(where))

    def broken(beat: Beat) -> None:
        raise ValueError("a listener's fault")

    with Pulse(on_beat=broken) as pulse:
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
    assert len(pulse.beats) == 1
    assert told == ["listening to the pulse"]


def test_numbers_from_a_device_come_one_step_late_and_in_order() -> None:
    arrivals = Arrivals()
    arrivals.send("a", {"loss": 1.0})
    assert list(arrivals.receive(wait=False)) == [("a", {"loss": 1.0})]
    for name in "bc":
        arrivals.send(name, {"loss": 2.0})
        arrivals.queue[-1].host, arrivals.queue[-1].names = torch.tensor([3.0]), ["grad_norm"]
    assert list(arrivals.receive(wait=False)) == [("b", {"loss": 2.0, "grad_norm": 3.0})]
    assert list(arrivals.receive(wait=True)) == [("c", {"loss": 2.0, "grad_norm": 3.0})]


def mixed_gradients(kind: str) -> list[torch.Tensor]:
    torch.manual_seed(3)
    dense = [torch.randn(5, 3), torch.randn(7)]
    if kind == "large":
        return [*dense, torch.randn(1 << 18)]
    if kind == "sparse":
        return [*dense, torch.tensor([3.0, 0.0, 4.0]).to_sparse()]
    if kind == "half":
        return [one.to(torch.bfloat16) for one in dense]
    return [dense[0], dense[1].double()] if kind == "two precisions" else dense


@pytest.mark.parametrize("kind", ["plain", "large", "half", "two precisions", "sparse"])
def test_one_norm_over_gradients_of_every_kind(kind: str) -> None:
    gradients = mixed_gradients(kind)
    wanted = math.sqrt(sum(float(g.to_dense().double().square().sum()) for g in gradients))
    for _ in range(2):  # the second time it is known which way to go
        with torch.no_grad():
            assert float(pulse_module.total_norm(gradients)) == pytest.approx(wanted, rel=1e-5)


def test_norms_are_put_in_a_row_again_and_again() -> None:
    for size in (3, 2, 3):
        norms = [torch.rand(()) for _ in range(size)]
        assert torch.equal(gradient_norm._in_a_row(norms), torch.stack(norms))


def test_what_runs_quietly_leaves_no_trace() -> None:
    weight = nn.Parameter(torch.ones(2))
    for enabled in (True, False):
        with torch.set_grad_enabled(enabled):
            with quietly():
                assert not (weight * 2).requires_grad
            with pytest.raises(TypeError), quietly():
                len(3)  # type: ignore[arg-type]
            assert torch.is_grad_enabled() is enabled


def test_no_mode_of_the_script_sees_what_runs_quietly() -> None:
    seen: list[str] = []

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append("function")
            return function(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append("dispatch")
            return function(*args, **(kwargs or {}))

    with Functions(), Dispatch():
        with quietly():
            torch.ones(2).sum()
        assert seen == []
        torch.ones(2).sum()
    assert {*seen} == {"function", "dispatch"}


@pytest.mark.parametrize("is_known", [True, False])
def test_backwards_from_one_line_add_up(is_known: bool) -> None:
    model, optimizer = make()
    with Pulse(adds_losses=lambda: is_known) as pulse:
        optimizer.zero_grad()
        parts = [model(torch.randn(3, 4)).square().sum() / 2 for _ in range(2)]
        for part in parts:
            part.backward()
        optimizer.step()
    assert [beat.loss for beat in pulse.beats] == pytest.approx([sum(part.item() for part in parts)])
