"""A small training that torch.profiler recorded on the CPU, with what torch itself says of it."""

from __future__ import annotations

import json
import linecache
import sys
import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from stepscope.profile.profile import Profile
from stepscope.profile.trace.build import events_of
from stepscope.records.profile import Sheet

SOURCE = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(128, 64)

    def forward(self, x):
        hidden = self.fc1(x)                # line 13
        hidden = self.act(hidden)           # line 14
        return x + self.fc2(hidden)         # line 15

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)                    # line 25
        return self.head(x)                 # line 26

torch.manual_seed(0)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters())

def step():
    x = torch.randn(32, 64)                 # line 34
    y = torch.randint(0, 10, (32,))
    optimizer.zero_grad()
    loss = criterion(net(x), y)             # line 37
    loss.backward()                         # line 38
    optimizer.step()                        # line 39
    return loss
"""

FILE = "training_script.py"


@dataclass
class Recorded:
    trace: dict[str, Any]
    facts: dict[str, Any]
    averages: dict[str, dict[str, int]]
    """By operator: calls, own_bytes, total_bytes, as key_averages() counts them."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Bytes of parameters, gradients and optimizer state, by hand."""

    def profile(self, *, facts: bool = True) -> Profile:
        profile = Profile.of_events({0: events_of(self.trace)})
        if facts:
            profile.facts = lambda rank=0: self.facts  # type: ignore[method-assign]
        return profile


@lru_cache(maxsize=4)
def recorded(*, stacks: bool = True, spans: bool = False, warm: bool = False) -> Recorded:
    """Two steps of the training. `warm`: after a step that is not recorded, so that the optimizer's state is there."""
    import torch

    from stepscope.profile.collect.memory import storages
    from stepscope.profile.collect.module_names import module_paths, names_and_lines
    from stepscope.profile.collect.module_spans import ModuleSpans

    linecache.cache[FILE] = (len(SOURCE), None, SOURCE.splitlines(True), FILE)
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SOURCE, FILE, "exec"), space)
    if warm:
        space["step"]()
    if "torch._dynamo.utils" in sys.modules:  # another test may have compiled something, and spans make way for that
        sys.modules["torch._dynamo.utils"].counters.clear()
    marks = ModuleSpans()
    profiler = torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=stacks
    )
    with profiler:
        if spans:
            marks.begin()
        for _ in range(2):
            space["step"]()
            profiler.step()
        marks.end()
    models, optimizers = [space["net"], space["criterion"]], [space["optimizer"]]
    facts = {**names_and_lines(profiler, module_paths(models)), "storages": storages(models, optimizers)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        trace = json.loads(path.read_text(errors="replace"))  # torch may write names that are no text
    # With stacks, torch itself may fail on such a name.
    averages = (
        {}
        if stacks
        else {
            one.key: {
                "calls": one.count,
                "own_bytes": one.self_cpu_memory_usage,
                "total_bytes": one.cpu_memory_usage,
                "own_us": one.self_cpu_time_total,
            }
            for one in profiler.key_averages()
        }
    )
    parameters = sum(p.numel() * p.element_size() for p in space["net"].parameters())
    return Recorded(trace, json.loads(json.dumps(facts)), averages, {"parameters": parameters})


def by_key(sheet: Sheet | None, key: str) -> dict[Any, dict[str, Any]]:
    """The rows of a sheet by one of their columns."""
    assert sheet is not None
    keys = [column.key for column in sheet.columns]
    return {row[keys.index(key)]: dict(zip(keys, row, strict=True)) for row in sheet.rows}


def assert_checked(sheet: Sheet | None) -> None:
    assert sheet is not None
    assert sheet.checks
    assert [check for check in sheet.checks if not check.ok] == []
