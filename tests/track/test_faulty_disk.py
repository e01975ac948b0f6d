"""A disk that fails at any moment, once or for good, changes nothing in a training: the same losses, bit for bit.

As SQLite does it: the n-th write fails, for every n, until a training is over before it comes to the fault.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import stepscope
from stepscope.records import Dropped
from stepscope.runs.format.layout import run_folders

STEPS = 6
real_write = os.write


class FailingDisk:
    """Writes to files below `store` fail from the n-th on: once, or for good."""

    def __init__(self, store: Path, first: int, for_good: bool, code: int) -> None:
        self.store, self.first, self.for_good, self.code = str(store), first, for_good, code
        self.calls = 0

    def write(self, fd: int, data: bytes) -> int:
        try:
            ours = os.readlink(f"/proc/self/fd/{fd}").startswith(self.store)
        except OSError:
            ours = False
        if ours:
            self.calls += 1
            if self.calls == self.first or (self.for_good and self.calls > self.first):
                raise OSError(self.code, os.strerror(self.code))
        return real_write(fd, data)


def train(log: Callable[[dict[str, object], int], None] | None) -> list[bytes]:
    torch.manual_seed(3)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for step in range(STEPS):
        loss = model(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach().numpy().tobytes())
        if log is not None:
            log({"loss": loss, "step": step}, step)
            if step == 2:
                log({"image": stepscope.Image(torch.rand(3, 40, 40, generator=torch.Generator().manual_seed(1)))}, step)
    return losses


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to know which file a write is for")
@pytest.mark.parametrize(
    ("for_good", "code"), [(False, errno.EIO), (False, errno.ENOSPC), (True, errno.EIO), (True, errno.ENOSPC)]
)
def test_the_nth_write_fails_and_the_losses_are_the_same(
    store: Path, monkeypatch: pytest.MonkeyPatch, for_good: bool, code: int
) -> None:
    monkeypatch.setenv("STEPSCOPE_QUIET", "1")
    monkeypatch.setattr("stepscope.runs.write.writer.NO_PROGRESS_S", 0.05)
    expected = train(None)
    failures = 0
    for first in range(1, 60, 3 if for_good else 1):
        folder = store / f"{first}"
        disk = FailingDisk(folder, first, for_good, code)
        monkeypatch.setattr(os, "write", disk.write)
        run = stepscope.init(dir=folder, system=False, git=False, console=False)
        losses = train(run.log)
        run.finish()
        monkeypatch.setattr(os, "write", real_write)
        assert losses == expected, f"write {first} failed"
        if disk.calls < first:
            break
        failures += 1
        if not for_good:
            nothing_is_lost(folder)
    assert failures >= 5
    assert disk.calls < first or for_good


def nothing_is_lost(folder: Path) -> None:
    """A fault that passes costs no value; what it does cost is counted."""
    for path in run_folders(folder):
        run = stepscope.run(path)
        dropped = sum(event.count for event in run.events(Dropped))
        values = sum(len(run.series(name).values) for name in run.metrics()) + len(run.media())
        assert values + dropped == STEPS * 2 + 1
        assert run.status == "finished"
        assert not run.damage
