"""Where a bad loss comes from, by its graph alone, and by repeating the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from stepscope.errors import UsageError
from stepscope.evidence.nonfinite_search import Verdict
from stepscope.record.nonfinite_search import autopsy, repeat
from stepscope.record.pulse import Pulse

INF = float("inf")


def x() -> torch.Tensor:
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1.0


def model_and_output(spoil: Callable[[nn.Module], None] | None = None) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    if spoil is not None:
        with torch.no_grad():
            spoil(model)
    return model, model(torch.ones(2, 3))


CASES: list[tuple[str, Callable[[], torch.Tensor], str]] = [
    ("log of zero", lambda: torch.log(x() - 1).sum(), "LogBackward0"),
    ("division by zero", lambda: (x() / (x() - 1)).mean(), "DivBackward0"),
    ("zero by zero", lambda: ((x() * 0) / (x() * 0)).sum(), "DivBackward0"),
    ("overflow of exp", lambda: (x() * 1000).exp().mean(), "ExpBackward0"),
    ("root of a negative", lambda: (x() - 5).sqrt().sum(), "SqrtBackward0"),
    ("a power of a negative", lambda: ((x() - 5) ** 0.3).sum(), "PowBackward0"),
    ("acos beyond one", lambda: (torch.acos(x()) + 1).sum(), "AcosBackward0"),
    ("overflow of a product", lambda: ((x() * 1e30) * (x() * 1e30)).sum(), "MulBackward0"),
    ("a fully masked row", lambda: x().masked_fill(x().detach() > 0, -INF).softmax(0).sum(), "SoftmaxBackward0"),
]


@pytest.mark.parametrize(("loss", "node"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_names_the_node(loss: Callable[[], torch.Tensor], node: str) -> None:
    verdict = autopsy(loss())
    assert (verdict.kind, verdict.node) == ("forward", node)
    assert verdict.stats is not None
    assert node in str(verdict)


def test_a_bad_parameter_by_name() -> None:
    model, output = model_and_output(lambda m: m[2].weight.fill_(INF))
    verdict = autopsy(output.sum(), model=model)
    assert (verdict.kind, verdict.names) == ("parameter", ("2.weight",))
    assert "2.weight" in str(verdict)


def test_bad_data() -> None:
    model, _ = model_and_output()
    verdict = autopsy(model(torch.tensor([[1.0, float("nan"), 0.0]])).sum(), model=model)
    assert verdict.kind == "input"
    assert verdict.stats is not None
    assert verdict.stats.nan == 1


def test_the_loss_code_is_told_from_the_model() -> None:
    model, output = model_and_output()
    verdict = autopsy(torch.log(output * 0).mean(), model=model, output=output)
    assert (verdict.kind, verdict.node) == ("loss", "LogBackward0")


def test_a_mask_on_the_way_is_not_blamed() -> None:
    scores = x().outer(x())
    weights = scores.masked_fill(torch.ones(3, 3, dtype=torch.bool).triu(1), -INF).softmax(-1)
    assert autopsy(torch.log(weights.sum() - 3).sum()).node == "LogBackward0"


def test_a_finite_loss_a_freed_graph_and_a_wrong_argument() -> None:
    assert str(autopsy(x().sum())) == "the loss is finite (6)"
    loss = torch.log(x() - 1).sum()
    loss.backward()
    gone = autopsy(loss)
    assert (gone.kind, gone.exact) == (None, False)
    assert "graph is gone" in str(gone)
    with pytest.raises(UsageError, match="give it the loss"):
        autopsy(1.0)


def test_says_when_it_cannot_be_sure() -> None:
    verdict = autopsy((x() - x() + INF - INF).sum())
    assert verdict.exact is False
    assert verdict.candidates
    assert "repeating the step would tell" in str(verdict)


def test_a_checkpoint_is_not_run_again() -> None:
    runs = []

    def inside(value: torch.Tensor) -> torch.Tensor:
        runs.append(1)
        return torch.log(value - 1)

    loss = checkpoint(inside, x(), use_reentrant=False).sum()
    assert not autopsy(loss).exact
    assert len(runs) == 1


def test_looking_leaves_graph_gradients_and_random_numbers_alone() -> None:
    state = torch.get_rng_state()
    leaf = torch.tensor([0.0, 1.0], requires_grad=True)
    loss = torch.log(leaf).sum()
    autopsy(loss)
    loss.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [INF, 1.0]
    assert torch.equal(torch.get_rng_state(), state)


def test_from_the_pulse_on_a_cpu_the_graph_is_still_there() -> None:
    verdicts: list[Verdict] = []
    model, output = model_and_output()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Pulse(on_bad_loss=lambda loss: verdicts.append(autopsy(loss, model=model))):
        torch.log(output * 0).sum().backward()
        optimizer.step()
    assert [verdict.node for verdict in verdicts] == ["LogBackward0"]


class Noisy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return F.dropout(self.norm(self.layer(batch)), 0.5)


def test_a_repeated_step_names_the_line_and_leaves_no_trace() -> None:
    model = Noisy()
    batch = torch.randn(4, 3)
    model(batch).sum().backward()
    state: list[Any] = [torch.get_rng_state(), [p.grad.clone() for p in model.parameters() if p.grad is not None]]
    buffers = {name: value.clone() for name, value in model.state_dict().items()}

    def step() -> None:
        (model(batch) * 0).sqrt().sum().backward()

    report = repeat(step, model=model)
    assert report.first is not None
    assert (report.first.kind, report.first.forward and report.first.forward.name) == ("backward", "sqrt")
    assert report.first.site is not None
    assert "(model(batch) * 0).sqrt()" in report.first.site.text
    assert torch.equal(torch.get_rng_state(), state[0])
    assert all(
        torch.equal(p.grad, kept) for p, kept in zip(model.parameters(), state[1], strict=True) if p.grad is not None
    )
    assert all(torch.equal(value, buffers[name]) for name, value in model.state_dict().items())
