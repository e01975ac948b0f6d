"""A crash that a run has kept: the rules find the same in it, without the script, its frames and its tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.diagnose.rediagnose import asked_again
from stepscope.evidence.bundle import Bundle, pack, unpack
from stepscope.evidence.registry import tables

Run = Callable[..., Any]

CRASHES = {
    "a layer of another size": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(1, 8, 3)
                self.fc = nn.Linear(100, 10)

            def forward(self, x):
                x = torch.relu(self.conv(x))
                return self.fc(x.view(x.size(0), -1))

        Net()(torch.randn(4, 1, 8, 8))
    """,
    "labels from 1": """
        from torch.utils.data import DataLoader, TensorDataset
        labels = torch.arange(1, 5).repeat(3)
        loader = DataLoader(TensorDataset(torch.randn(12, 6), labels), batch_size=4)
        model = nn.Linear(6, 4)
        for x, y in loader:
            F.cross_entropy(model(x), y).backward()
    """,
    "doubles": """
        import numpy as np
        x = torch.from_numpy(np.ones((4, 3)))
        model = nn.Linear(3, 1)
        model(x)
    """,
    "a graph that is freed": """
        cell, head = nn.RNN(3, 4), nn.Linear(4, 1)
        h = torch.zeros(1, 2, 4)
        for step in range(3):
            y, h = cell(torch.randn(5, 2, 3), h)
            head(y).sum().backward()
    """,
    "an item written in place": """
        x = torch.randn(3, requires_grad=True)
        h = torch.sigmoid(x)
        h[0] = 0.0
        h.sum().backward()
    """,
}


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("name", CRASHES)
def test_finds_the_same_in_what_was_kept(crash: Run, tmp_path: Path, name: str, watched: bool) -> None:
    done = crash(CRASHES[name], watched=watched)
    assert done.findings
    script = tmp_path / "train.py"
    known = {name: table for name, table in done.evidence.tables.items() if name in tables()}
    kept = unpack(pack(Bundle(known, sources={str(script): script.read_text()}), strict=True))
    script.write_text("another script by now\n")
    again = asked_again(kept).findings
    assert [_told(finding) for finding in again] == [_told(finding) for finding in done.all]


def _told(finding: Any) -> tuple[Any, ...]:
    where = [(place.line, place.label) for place in finding.related]
    return finding.rule, finding.line, finding.message, finding.label, finding.fix, finding.evidence, where
