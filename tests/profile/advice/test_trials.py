"""Trials: the script runs again with one thing changed, and what that gains is measured, not guessed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

from stepscope.diagnose.rule import rules_for
from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.script import find_script
from stepscope.launch.trial.changes import apply_change
from stepscope.profile.advice.trials import Tried, try_changes

SLOW = """
import sys, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, i):
        time.sleep(0.01)
        return torch.ones(4), torch.ones(1)

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while True:
    for x, y in DataLoader(Slow(), batch_size=4):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        torch.save(model.state_dict(), sys.argv[1])
"""


def test_measures_what_a_change_gains_and_saves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    script, kept = tmp_path / "train.py", tmp_path / "model.pt"
    script.write_text(SLOW)
    changes = [("keep samples", {"kind": "cache", "settings": {}}), ("nonsense", {"kind": "flag", "settings": {}})]
    kept_samples, nothing = try_changes(find_script(str(script), [str(kept)]), changes, rounds=1, steps=10, warm_up=3)
    assert kept_samples.gain is not None
    assert kept_samples.gain > 1.3, "a step sleeps 40 ms, and then not at all"
    assert kept_samples.steps == 10
    assert nothing.gain is not None
    assert 0.2 < nothing.gain < 5
    assert not kept.exists()


def test_a_script_that_fails_says_why(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("raise RuntimeError('no such device')\n")
    (tried,) = try_changes(find_script(str(script), []), [("x", {"kind": "flag", "settings": {}})], rounds=1)
    assert tried.gain is None
    assert tried.in_words() == "could not be tried: RuntimeError: no such device"


@pytest.mark.parametrize(
    ("plain", "changed", "said"),
    [
        ([30, 31, 32], [10, 10, 10], "3.1x, measured on 90 steps (31 ms -> 10 ms a step, noise 3%)"),
        ([30, 31, 32], [30, 31, 32], "no gain beyond the noise: 1.00x (31 ms -> 31 ms a step, noise 0%)"),
        ([20, 28], [20, 20], "no gain beyond the noise: 1.20x (24 ms -> 20 ms a step, noise 17%)"),
        ([20, 40], [20, 20], "the machine is too busy to tell: 1.5x (30 ms -> 20 ms a step, noise 33%)"),
        ([10, 10], [20, 20], "0.50x: slower (10 ms -> 20 ms a step, noise 0%)"),
    ],
)
def test_says_the_gain_and_the_noise(plain: list[float], changed: list[float], said: str) -> None:
    tried = Tried("x", {}, [one * 1e6 for one in changed], [one * 1e6 for one in plain], steps=90)
    assert tried.in_words() == said


# -- each change, in this process -----------------------------------------------------------------------------------


@pytest.fixture
def change() -> Iterator[Any]:
    imports, installed = Imports(), Installed()
    threads, precision = torch.get_num_threads(), torch.get_float32_matmul_precision()

    def apply(kind: str, **settings: Any) -> None:
        assert apply_change({"kind": kind, "settings": settings}, imports, installed) == []

    yield apply
    installed.remove()
    imports.remove()
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision(precision)


DATA = TensorDataset(torch.arange(12.0).reshape(12, 1), torch.arange(12))


def test_other_loader_settings_only_at_the_place_that_is_meant(change: Any) -> None:
    line = sys._getframe().f_lineno + 1
    change("loader", prefetch_factor=3, num_workers=1, where=[__file__, line + 8])
    far = DataLoader(DATA, batch_size=2)
    assert far.num_workers == 0
    # The place is given by its line, which a few
    # lines more or less do not
    # change.
    #
    #
    near = DataLoader(DATA, batch_size=2)
    assert (near.num_workers, near.prefetch_factor, near.batch_size) == (1, 3, 2)


def test_whole_batches_and_kept_samples_give_the_same_data(change: Any) -> None:
    plain = [[one.tolist() for one in batch] for batch in DataLoader(DATA, batch_size=5)]
    change("batch-index")
    assert [[one.tolist() for one in batch] for batch in DataLoader(DATA, batch_size=5)] == plain


def test_kept_samples_are_read_once(change: Any) -> None:
    class Counted(Dataset[Any]):
        reads = 0

        def __len__(self) -> int:
            return 6

        def __getitem__(self, i: int) -> torch.Tensor:
            Counted.reads += 1
            return torch.rand(1) * 0 + i

    change("cache")
    state = torch.get_rng_state()
    loader = DataLoader(Counted(), batch_size=3)
    batches = [batch.flatten().tolist() for _ in range(3) for batch in loader]
    assert batches == [[0, 1, 2], [3, 4, 5]] * 3
    assert Counted.reads == 6
    torch.set_rng_state(state)


def test_fused_optimizers_and_dropped_gradients(change: Any) -> None:
    change("optimizer", fused=True)
    change("set_to_none")
    model = nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
    assert optimizer.param_groups[0]["fused"] is True
    model(torch.ones(1, 2)).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert model.weight.grad is None


def test_switches_are_held(change: Any) -> None:
    change("flag", float32_matmul_precision="high", anomaly=False, num_threads=1)
    torch.set_float32_matmul_precision("highest")
    torch.autograd.set_detect_anomaly(True)
    assert torch.get_float32_matmul_precision() == "high"
    assert not torch.is_anomaly_enabled()
    assert torch.get_num_threads() == 1


@pytest.mark.parametrize("kind", ["amp", "channels_last"])
def test_a_model_is_changed_at_its_first_call_and_the_hooks_go(change: Any, kind: str) -> None:
    change(kind)
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.rand(2, 2, 8, 8)).sum().backward()
        optimizer.step()
    if kind == "channels_last":
        assert model[0].weight.is_contiguous(memory_format=torch.channels_last)
    else:
        assert "forward" in model.__dict__
    assert not sys.modules["torch.nn.modules.module"]._global_forward_hooks


def test_every_kind_of_trial_that_advice_names_can_be_made() -> None:
    import re

    from stepscope.launch.trial.changes import _CHANGES

    folder = Path(sys.modules[next(iter(rules_for("profile").values())).check.__module__].__file__ or "").parent
    named = {kind for file in folder.glob("*.py") for kind in re.findall(r'Trial\("([\w-]+)"', file.read_text())}
    assert named <= set(_CHANGES)


def test_a_change_that_cannot_be_made_ends_the_trial(change: Any) -> None:
    change("amp", dtype="no such number format")
    model = torch.nn.Linear(2, 1)
    with pytest.raises(SystemExit, match="the change could not be made: AttributeError"):
        model(torch.ones(1, 2))


def test_a_model_is_changed_once_and_called_as_ever_after_its_first_step(change: Any) -> None:
    call = torch.nn.Module.__call__
    change("amp", dtype="bfloat16")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    forward = []
    for _ in range(3):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        forward.append(model.forward)
    assert "forward" in vars(model)
    assert forward[0] is forward[1] is forward[2]
    assert torch.nn.Module.__call__ is call
