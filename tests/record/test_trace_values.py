"""`trace_values`: the op, the line, and whether it matters."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from stepscope.errors import UsageError
from stepscope.record.nonfinite import births, first_nonfinite
from stepscope.record.recorder import Recorder
from stepscope.record.statistics import StatisticsObserver
from stepscope.record.trace_values import Report, trace_values

Fault = Callable[[torch.Tensor], torch.Tensor]
INF = float("inf")


def log_of_zero(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return torch.log(y - y).sum()  # here


def zero_by_zero(x: torch.Tensor) -> torch.Tensor:
    y = x - x
    z = y / (x * 0)  # here
    return (z + 1).mean()


def overflow_of_exp(x: torch.Tensor) -> torch.Tensor:
    y = x * 1000
    z = y.exp()  # here
    return (z - z).sum()


def by_a_norm_of_zero(x: torch.Tensor) -> torch.Tensor:
    y = x * 0
    length = y.norm()
    z = y / length  # here
    return z.sum()


def overflow_of_half(x: torch.Tensor) -> torch.Tensor:
    y = (x * 300).half()
    z = y * y  # here
    return z.float().mean()


def fully_masked_row(x: torch.Tensor) -> torch.Tensor:
    scores = x.outer(x)
    mask = torch.tensor([True, True, True, False]).expand(4, 4).clone()
    mask[2] = True
    scores = scores.masked_fill(mask, -INF)
    weights = scores.softmax(-1)  # here
    return (weights * x).sum()


def cross_entropy_by_hand_at_one(x: torch.Tensor) -> torch.Tensor:
    p = torch.sigmoid(x * 100)
    return -(torch.log(1 - p)).mean()  # here


def root_of_a_negative(x: torch.Tensor) -> torch.Tensor:
    y = (x - 10) ** 0.5  # here
    return y.sum()


def spread_of_one_value(x: torch.Tensor) -> torch.Tensor:
    with_one = x[:1]
    y = with_one.var(correction=0) / (len(with_one) - 1)  # here
    return y + x.sum()


def all_targets_ignored(x: torch.Tensor) -> torch.Tensor:
    logits = x.outer(x)
    return F.cross_entropy(logits, torch.full((4,), -100))  # here


def gradient_of_root_at_zero(x: torch.Tensor) -> torch.Tensor:
    y = x - 1
    z = y.sqrt()  # here
    return z.sum()


def gradient_of_acos_at_one(x: torch.Tensor) -> torch.Tensor:
    y = torch.clamp(x, -1, 1)
    z = torch.acos(y * 1.0)  # here
    return z.sum()


def gradient_behind_where(x: torch.Tensor) -> torch.Tensor:
    y = x - 1
    z = torch.log(y)  # here
    return torch.where(y > 0, z, torch.zeros_like(z)).sum()


def gradient_of_a_norm_at_zero(x: torch.Tensor) -> torch.Tensor:
    y = x - x.detach()
    z = (y**2).sum().sqrt()  # here
    return z + 1


FORWARD = [
    log_of_zero, zero_by_zero, overflow_of_exp, by_a_norm_of_zero, overflow_of_half, fully_masked_row,
    cross_entropy_by_hand_at_one, root_of_a_negative, spread_of_one_value, all_targets_ignored,
]  # fmt: skip
BACKWARD = [gradient_of_root_at_zero, gradient_of_acos_at_one, gradient_behind_where, gradient_of_a_norm_at_zero]


def marked_line(fault: Fault) -> int:
    lines, first = inspect.getsourcelines(fault)
    return first + next(number for number, text in enumerate(lines) if text.rstrip().endswith("# here"))


def traced(step: Callable[[], Any], **options: Any) -> Report:
    with trace_values(**options) as tracer:
        step()
    return tracer.check()


def run(fault: Fault) -> torch.Tensor:
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    loss = fault(x * 1.0)
    loss.backward()
    return loss


@pytest.mark.parametrize("fault", FORWARD, ids=lambda fault: fault.__name__)
def test_names_the_line_where_it_was_born_in_forward(fault: Fault) -> None:
    report = traced(lambda: run(fault))
    assert report.first is not None
    assert report.first.line == marked_line(fault)
    assert report.first.kind == "forward"
    assert report.first.reaches == "the loss"
    assert all(stats is None or not stats.nan for _, stats in report.first.inputs)


@pytest.mark.parametrize("fault", BACKWARD, ids=lambda fault: fault.__name__)
def test_names_the_line_whose_gradient_was_born_bad(fault: Fault) -> None:
    report = traced(lambda: run(fault))
    assert report.first is not None
    assert report.first.line == marked_line(fault)
    assert report.first.kind == "backward"
    assert report.first.forward is not None
    assert "gradient" in report.first.reaches


@pytest.mark.parametrize("fault", [*FORWARD, *BACKWARD], ids=lambda fault: fault.__name__)
def test_full_statistics_tell_the_same(fault: Fault) -> None:
    recorder = Recorder(observers=[StatisticsObserver()])
    with recorder:
        run(fault)
    assert recorder.record is not None
    first = first_nonfinite(recorder.record)
    assert first is not None
    assert first.line == marked_line(fault)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.norm = nn.BatchNorm1d(8)
        self.last = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(F.relu(self.norm(self.first(x))))


def spoiled(tensor: torch.Tensor, value: float) -> None:
    with torch.no_grad():
        tensor.view(-1)[0] = value


def test_a_bad_batch_is_called_bad_input() -> None:
    model, x = Net(), torch.randn(3, 4)
    spoiled(x, float("nan"))
    report = traced(lambda: model(x).sum().backward())
    assert report.first is not None
    assert (report.first.kind, report.first.op.name, report.first.module) == ("input", "linear", "first")
    assert "came in with the data" in str(report)


def test_a_bad_batch_read_inside_the_block_is_called_bad_input() -> None:
    model = Net()
    report = traced(lambda: model(torch.tensor([[1.0, float("nan"), 0, 0], [1.0, 1, 1, 1]])).sum().backward())
    assert report.first is not None
    assert report.first.kind == "input"


def test_a_bad_parameter_is_called_by_its_name() -> None:
    model = Net()
    spoiled(model.last.weight, INF)
    report = traced(lambda: model(torch.randn(3, 4)).sum().backward())
    assert report.first is not None
    assert report.first.kind == "parameter"
    assert report.first.tensor is not None
    assert report.first.tensor.name == "last.weight"
    assert "last.weight" in str(report)


def test_a_bad_buffer_is_called_by_its_name() -> None:
    model = Net().eval()
    spoiled(model.norm.running_mean, float("nan"))
    report = traced(lambda: model(torch.randn(3, 4)).sum().backward())
    assert report.first is not None
    assert (report.first.kind, report.first.tensor and report.first.tensor.name) == ("buffer", "norm.running_mean")


def test_a_fault_in_the_loss_code_is_told_from_one_in_the_model() -> None:
    model = Net()
    report = traced(lambda: torch.log(model(torch.randn(3, 4)) * 0).sum().backward(), model=model)
    assert report.first is not None
    assert (report.first.kind, report.first.op.name, report.first.module) == ("loss", "log", None)


def test_a_fault_inside_a_module_names_the_module() -> None:
    class Bad(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x / x.mul(0)

    model = nn.Sequential(nn.Linear(4, 4), Bad())
    report = traced(lambda: model(torch.randn(2, 4)).sum().backward())
    assert report.first is not None
    assert (report.first.kind, report.first.module, report.first.op.name) == ("forward", "1", "div")


def test_a_fault_in_the_optimizer() -> None:
    model = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e38)

    def step() -> None:
        (model(torch.ones(1, 2)).sum() * 100).backward()
        optimizer.step()

    report = traced(step)
    assert report.first is not None
    assert report.first.kind == "optimizer"


def masked(x: torch.Tensor) -> torch.Tensor:
    causal = torch.ones(4, 4, dtype=torch.bool).triu(1)
    return (x.outer(x).masked_fill(causal, -INF).softmax(-1) * x).sum()


def masked_by_adding(x: torch.Tensor) -> torch.Tensor:
    mask = torch.full((4, 4), -INF).triu(1)
    return ((x.outer(x) + mask).softmax(-1) * x).sum()


def masked_attention(x: torch.Tensor) -> torch.Tensor:
    q = x.outer(x).view(1, 1, 4, 4)
    return F.scaled_dot_product_attention(q, q, q, attn_mask=torch.full((4, 4), -INF).triu(1)).sum()


def largest_so_far(x: torch.Tensor) -> torch.Tensor:
    return torch.maximum(x, torch.tensor(-INF)).sum()


def unwritten_memory(x: torch.Tensor) -> torch.Tensor:
    buffer = torch.empty(4)
    buffer.fill_(float("nan"))
    buffer.copy_(x.detach())
    return (x * buffer).sum()


@pytest.mark.parametrize("healthy", [masked, masked_by_adding, masked_attention, largest_so_far, unwritten_memory])
def test_a_mask_stays_silent(healthy: Fault) -> None:
    report = traced(lambda: run(healthy))
    assert report.ok, str(report)
    assert report.first is None
    assert str(report).startswith("no NaN or Inf reaches the loss or a gradient")


def test_a_mask_is_listed_as_harmless() -> None:
    report = traced(lambda: run(masked))
    assert [birth.op.name for birth in report.harmless] == ["masked_fill"]


def test_the_mask_behind_a_fully_masked_row_is_told_after_the_softmax() -> None:
    report = traced(lambda: run(fully_masked_row))
    assert [(birth.op.name, birth.behind) for birth in report.all] == [("softmax", False), ("masked_fill", True)]


def test_without_backward_what_comes_out_counts() -> None:
    assert not traced(lambda: torch.log(torch.zeros(2)) + 1).ok
    assert traced(lambda: torch.tensor([0.0, -INF]).softmax(0)).ok


def test_one_can_look_for_nan_only() -> None:
    assert traced(lambda: run(lambda x: (x * 1e38 * 10).sum()), inf=False).ok
    assert not traced(lambda: run(lambda x: (x * 1e38 * 10).sum())).ok
    with pytest.raises(UsageError, match="looks for nothing"):
        trace_values(nan=False, inf=False)


def test_asking_too_early_is_a_mistake_with_a_name() -> None:
    with trace_values() as tracer, pytest.raises(UsageError, match="after the `with` block"):
        tracer.check()


def test_the_users_exception_comes_through() -> None:
    with pytest.raises(ZeroDivisionError), trace_values() as tracer:
        _ = 1 / 0
    assert tracer.check().ok


def test_the_report_tells_the_inputs_with_their_numbers() -> None:
    text = str(traced(lambda: run(gradient_of_root_at_zero)))
    assert "born in the backward of sqrt" in text
    assert "SqrtBackward0" in text
    assert "z = y.sqrt()  # here" in text
    assert "finite, 4 values, from 0 to 3" in text


def test_inside_vmap_nothing_is_looked_at_and_nothing_breaks() -> None:
    report = traced(lambda: torch.vmap(lambda row: row.log() * 2)(torch.ones(3, 2)))
    assert report.ok


def test_a_healthy_step_has_no_births() -> None:
    recorder = Recorder(observers=[StatisticsObserver()])
    with recorder:
        Net()(torch.randn(3, 4)).sum().backward()
    assert recorder.record is not None
    assert births(recorder.record) == []


def test_training_is_bitwise_the_same_while_traced() -> None:
    def train(trace: bool) -> list[torch.Tensor]:
        torch.manual_seed(3)
        model = nn.Sequential(Net(), nn.Dropout(0.5))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        losses = []
        for _ in range(3):
            with trace_values() if trace else contextlib.nullcontext():
                optimizer.zero_grad()
                loss = model(torch.randn(5, 4)).square().mean()
                loss.backward()
                optimizer.step()
            losses.append(loss.detach())
        return [*losses, *model.state_dict().values(), torch.get_rng_state()]

    assert all(torch.equal(a, b) for a, b in zip(train(True), train(False), strict=True))


class Careless(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return gradient * x / x.clamp(min=0)  # the fault


def test_a_fault_in_a_custom_backward_is_named_by_its_own_line() -> None:
    model = nn.Linear(2, 2)
    with trace_values(model=model) as tracer:
        Careless.apply(model(torch.tensor([[1.0, -1.0]])) * 0 - 1).sum().backward()  # type: ignore[no-untyped-call]
    first = tracer.check().first
    assert first is not None
    assert (first.op.name, first.kind, first.reaches) == ("div", "backward", "the gradient of bias")
    assert first.site is not None
    assert first.site.text.endswith("# the fault")
    assert "born in the backward code: div" in str(first)


def test_optimizer_state_that_was_bad_before_the_step_is_named() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        with trace_values(model=model) as tracer:
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        optimizer.state[model.weight]["momentum_buffer"][0, 0] = float("nan")
    first = tracer.check().first
    assert first is not None
    assert first.kind == "state"
    assert str(first).startswith("NaN in the optimizer state weight/momentum_buffer, before the step")


def test_a_gradient_that_an_earlier_step_left_behind_is_no_birth() -> None:
    model, x = nn.Linear(2, 1), torch.ones(1, 2)
    (model(x).sum() * float("nan")).backward()
    with trace_values(model=model) as tracer:
        model(x).sum().backward()
    first = tracer.check().first
    assert first is None or not first.harmful
