"""The keeper holds little, holds nothing that autograd made, and knows which failures are a step's."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stepscope.launch.capsule.keeper import Keeper
from stepscope.launch.capsule.load import open_capsule
from stepscope.launch.capsule.save import Surroundings
from stepscope.record.observers.watcher import Watcher


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    watcher = Watcher()
    keeper = Keeper(watcher, Surroundings("train.py"), run=lambda: None)
    watcher.add(keeper)
    watcher.start()
    yield keeper
    watcher.stop()


def test_the_graph_of_a_step_goes_when_the_script_lets_go_of_it(keeper: Keeper) -> None:
    model, second = nn.Linear(3, 3), nn.Linear(3, 1)
    hidden = model(torch.ones(2, 3))
    out = second(hidden)
    gone = [weakref.ref(hidden), weakref.ref(out)]
    out.sum().backward()
    del hidden, out
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


def test_arguments_are_let_go_of_when_the_optimizer_has_stepped(keeper: Keeper) -> None:
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.ones(2, 3)
    model(x).sum().backward()
    gone = weakref.ref(x)
    del x
    assert gone() is not None, "until then the step can still fail"
    optimizer.step()
    gc.collect()
    assert gone() is None


def test_only_the_newest_batch_is_held(keeper: Keeper) -> None:
    model = nn.Linear(3, 1)
    seen = []
    for (x,) in DataLoader(TensorDataset(torch.ones(6, 3)), batch_size=2):
        model(x)
        seen.append(weakref.ref(x))
    del x
    gc.collect()
    assert [ref() is not None for ref in seen] == [False, False, True]


def test_no_random_number_is_drawn(keeper: Keeper) -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    before = torch.get_rng_state()
    for (x,) in DataLoader(TensorDataset(torch.ones(6, 3)), batch_size=2, generator=torch.Generator()):
        model(x)
    assert torch.equal(torch.get_rng_state(), before)


LOOP = """
import torch
from torch.utils.data import DataLoader, TensorDataset
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, (x,) in enumerate(DataLoader(DATA, batch_size=2)):
    loss = model(x).sum()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    AFTER
"""


def run(
    keeping: Any, folder: Path, data: str = "TensorDataset(torch.ones(6, 3))", after: str = "pass", **more: Any
) -> Any:
    script = folder / "train.py"
    script.write_text(LOOP.replace("DATA", data).replace("AFTER", after))
    return keeping.run_and_keep(script, **more)


def test_an_error_after_the_step_is_not_the_steps(keeping: Any, tmp_path: Path) -> None:
    ran = run(keeping, tmp_path, after="raise ValueError('while logging')")
    assert isinstance(ran.error, ValueError)
    assert ran.kept == []


def test_an_error_in_the_data_is_not_the_steps(keeping: Any, tmp_path: Path) -> None:
    ran = run(keeping, tmp_path, data="[(torch.ones(3),), (torch.ones(3),), None, 1]")
    assert isinstance(ran.error, TypeError)
    assert ran.kept == []


def test_a_fault_of_the_keeper_leaves_the_script_alone(
    keeping: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: Any, **kwargs: Any) -> Any:
        raise OSError("no space left on device")

    monkeypatch.setattr("stepscope.launch.capsule.save.pack_step", broken)
    monkeypatch.setattr("stepscope.launch.capsule.iteration.Buffers.note", broken)
    ran = run(keeping, tmp_path, data="TensorDataset(torch.full((6, 3), float('nan')))", after="print('step', step)")
    told = capsys.readouterr()
    assert ran.error is None
    assert ran.kept == []
    assert told.out == "step 0\nstep 1\nstep 2\n"
    assert told.err.count("no space left on device") == 2, "one line for each of the two hooks"


def test_only_the_first_bad_step_is_kept(keeping: Any, tmp_path: Path) -> None:
    ran = run(keeping, tmp_path, data="TensorDataset(torch.full((6, 3), float('nan')))")
    assert [(kept.name, kept.why) for kept in ran.kept] == [("capsule-step-0", "loss")]


def test_ranks_have_capsules_of_their_own(keeping: Any, tmp_path: Path) -> None:
    ran = run(keeping, tmp_path, data="TensorDataset(torch.full((6, 3), float('nan')))", rank=3)
    assert [kept.name for kept in ran.kept] == ["capsule-step-0-rank-3"]
    with open_capsule(ran.run, rank=3) as capsule:
        assert capsule.manifest.rank == 3


def test_what_the_capsule_knows_of_its_run(keeping: Any, tmp_path: Path) -> None:
    ran = run(keeping, tmp_path, data="TensorDataset(torch.full((6, 3), float('nan')))", args=["--lr", "0.1"])
    with open_capsule(ran.run, step=0) as capsule:
        manifest = capsule.manifest
    assert manifest.argv == ["--lr", "0.1"]
    assert manifest.cwd == str(tmp_path)
    assert manifest.anchor is not None
    assert manifest.anchor.text.startswith("for step, (x,) in")
    assert [model.kind for model in manifest.models] == ["torch.nn.modules.linear.Linear"]
    assert str(tmp_path / "train.py") in [source.path for source in manifest.sources]


@pytest.mark.slow
def test_a_rank_of_a_distributed_run_is_replayed_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("""
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
model = DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, (x,) in enumerate(DataLoader(TensorDataset(torch.randn(16, 3)), batch_size=4)):
    loss = model(x).square().mean()
    if step == 2 and dist.get_rank() == 1:
        loss = loss + (loss * 0).sqrt()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
dist.destroy_process_group()
""")
    here = {**os.environ, "OMP_NUM_THREADS": "1", "STEPSCOPE_DIR": str(tmp_path / "runs")}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    subprocess.run(
        [*torchrun, "-m", "stepscope", "run", "train.py"],
        cwd=tmp_path,
        env=here,
        check=True,
        capture_output=True,
        timeout=300,
    )
    replay = [sys.executable, "-m", "stepscope", "replay", "last", "--rank", "1", "--trust"]
    done = subprocess.run(replay, cwd=tmp_path, env=here, capture_output=True, text=True, timeout=300)
    assert "identical to the recorded one" in done.stdout, done.stdout + done.stderr
    assert "backward of sqrt" in done.stdout
    assert done.returncode == 1
