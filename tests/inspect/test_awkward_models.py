"""Every view of steps that are not a tidy stack of layers; what is outermost adds up to the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from stepscope.inspect.recording import record
from stepscope.inspect.tally import Tally


class Shared(nn.Module):
    """One block under two names, called through both, inside a ModuleDict."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.ModuleDict({"block": nn.Sequential(nn.Linear(4, 4), nn.ReLU())})
        self.right = nn.ModuleDict({"block": self.left["block"]})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.right["block"](self.left["block"](x))  # type: ignore[no-any-return]


class Nested(nn.Module):
    """Calls itself."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, depth: int = 2) -> torch.Tensor:
        x = torch.tanh(self.fc(x))
        return self(x, depth - 1) if depth else x


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.GELU()) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(4, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(x.unsqueeze(0), torch.tensor([3]), batch_first=True)
        return nn.utils.rnn.pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0]


def plain_code() -> Callable[[torch.Tensor], torch.Tensor]:
    weight = torch.ones(4, 4, requires_grad=True)
    return lambda x: torch.relu(x @ weight)


@pytest.fixture(params=[Shared, Nested, Checkpointed, Packed, plain_code], ids=lambda one: one.__name__)
def step(request: pytest.FixtureRequest) -> Any:
    model = request.param()
    with record(model if isinstance(model, nn.Module) else None) as recorded:
        model(torch.ones(3, 4)).sum().backward()
    return recorded


def test_every_view_works(step: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for by in ("module", "op", "line", "phase", "type"):
        table = step.table(by=by)
        assert len(str(table).split("\n")) >= len(table)
        assert table.to_csv().count("\n") == len(table) + 1
        assert table._repr_html_().startswith("<div")
    step.print()
    step.visit(print)
    assert len(capsys.readouterr().out.split("\n")) > 2 * len(step)


def test_the_outermost_rows_add_up_to_the_whole(step: Any) -> None:
    whole = Tally(step.record.ops)
    outermost = [row.cells for row in step.table().rows if row.level == 0]
    assert sum(cells.get("ops") or 0 for cells in outermost) == whole.ops
    assert sum(cells.get("time_us") or 0 for cells in outermost) == pytest.approx(whole.time_us)
    assert sum(cells.get("flops") or 0 for cells in outermost) == whole.flops


def test_activations_of_plain_code_are_estimated() -> None:
    run = plain_code()
    with record() as step:
        run(torch.ones(3, 4)).sum().backward()
    estimate = step.estimate()
    assert estimate.activations == estimate.measured_activations == 2 * 3 * 4 * 4
