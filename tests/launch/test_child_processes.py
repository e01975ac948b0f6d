"""Processes that a script starts itself are watched, and cannot tell."""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.pool
import pickle
import subprocess
import sys
import textwrap
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from stepscope.diagnose.settings import Settings
from stepscope.events import Installed
from stepscope.launch.child_processes import Children, Note, is_of_script
from stepscope.runs.catalogue.run_list import runs

from .conftest import Done, environment, launch_all

TRAIN = """
    import multiprocessing, sys
    import torch
    import torch.multiprocessing as mp

    def train(rank, steps=6):
        torch.set_num_threads(1)
        torch.manual_seed(rank)
        model = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            loss = model(torch.ones(8, 4)).square().mean()
            loss.backward()
            optimizer.step()
        print(rank, f"{loss.item():.9f}", type(multiprocessing.current_process()).__name__, flush=True)
        return loss
"""
SCRIPTS = {
    "spawn": """
        if __name__ == "__main__":
            mp.spawn(train, nprocs=1)
        """,
    "fork": """
        child = mp.get_context("fork").Process(target=train, args=(3,), name="trainer", daemon=True)
        print(child._target is train); child.start(); child.join()
        print(child.exitcode, child.name, vars(child).keys())
        """,
    "class": """
        class Worker(multiprocessing.get_context("fork").Process):
            def __init__(self, rank):
                super().__init__()
                self.rank = rank
            def run(self):
                train(self.rank)
                sys.exit(4)
        worker = Worker(2); worker.start(); worker.join(); print(worker.exitcode)
        """,
    "error": """
        def fail(rank):
            train(rank)
            torch.nn.Linear(5, 2)(torch.ones(3, 4))
        child = mp.get_context("fork").Process(target=fail, args=(1,)); child.start(); child.join()
        print(child.exitcode)
        """,
    "error under start_processes": """
        def fail(rank):
            torch.nn.Linear(5, 2)(torch.ones(3, 4))
        mp.start_processes(fail, nprocs=1, start_method="fork")
        """,
    "queue": """
        def work(answers):
            answers.put(train(0, 2).item())
        context = mp.get_context("fork"); answers = context.Queue()
        child = context.Process(target=work, args=(answers,)); child.start(); print(answers.get()); child.join()
        """,
}
RANKS = """
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.nn.parallel import DistributedDataParallel

    def train(rank, where):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", f"file://{where}", rank=rank, world_size=2)
        torch.manual_seed(rank)
        model = DistributedDataParallel(torch.nn.Linear(4, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(6):
            loss = model(torch.randn(8, 4)).square().mean()
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            losses.append(loss.item())
        if rank == 0:
            print(losses, flush=True)
        dist.destroy_process_group()

    mp.start_processes(train, ("FOLDER/meet",), nprocs=2, start_method="fork")
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Done, list[dict[str, object]]]]:
    cases, outputs = [], {}
    for name, script in SCRIPTS.items():
        folder = tmp_path_factory.mktemp("children")
        (folder / "train.py").write_text(textwrap.dedent(TRAIN) + textwrap.dedent(script))
        outputs[name] = folder / "found.json"
        cases.append({"args": ["run", "--no-run", "--json", "found.json", "train.py"], "cwd": str(folder)})
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "train.py").write_text(textwrap.dedent(RANKS).replace("FOLDER", str(folder)))
    ranks = {"args": ["run", "--dir", "runs", "train.py"], "cwd": str(folder)}
    plain = {**cases[1], "args": ["run", "--no-run", "train.py"]}
    broken = [{**plain, "break": [f"stepscope.launch.child_processes:{part}"]} for part in ("Visitor", "Children")]
    *answers, in_ranks = launch_all([*cases, *broken, ranks], torch=True)
    found = {
        name: (one, json.loads(outputs[name].read_text())["findings"])
        for name, one in zip(SCRIPTS, answers, strict=False)
    }
    more = {"broken child": (answers[-2], []), "broken parent": (answers[-1], []), "ranks": (in_ranks, [str(folder)])}
    return {**found, **more}


@pytest.mark.parametrize("name", ["spawn", "fork", "class", "error"])
def test_finds_what_is_wrong_in_a_process(done: dict, name: str) -> None:  # type: ignore[type-arg]
    _, found = done[name]
    assert [(one["rule"], one["line"]) for one in found if one["rule"] == "opt.no-zero-grad"] == [
        ("opt.no-zero-grad", 13)
    ]


def test_names_the_cause_of_a_crash_in_a_process(done: dict) -> None:  # type: ignore[type-arg]
    for name, line in (("error", 20), ("error under start_processes", 19)):
        one, found = done[name]
        assert [(each["rule"], each["line"]) for each in found if each["rule"] == "shape.linear-in"] == [
            ("shape.linear-in", line)
        ]
        assert "what failed: linear" in one.err or name == "error"


def test_prints_and_ends_as_under_plain_python(done: dict, tmp_path: Path) -> None:  # type: ignore[type-arg]
    together = "\n".join(textwrap.dedent(SCRIPTS[name]) for name in ("fork", "class", "error", "queue"))
    (tmp_path / "train.py").write_text(textwrap.dedent(TRAIN) + together)
    command = [sys.executable, str(tmp_path / "train.py")]
    plain = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=300)
    ours = "".join(done[name][0].out for name in ("fork", "class", "error", "queue"))
    assert (ours, plain.returncode) == (plain.stdout, 0)


def test_tracebacks_have_no_frame_of_ours(done: dict) -> None:  # type: ignore[type-arg]
    for name in ("error", "error under start_processes"):
        err = done[name][0].err
        assert "mat1 and mat2 shapes cannot be multiplied" in err
        assert "children.py" not in err
        assert "visits.py" not in err


@pytest.mark.parametrize("part", ["broken child", "broken parent"])
def test_a_fault_of_ours_never_reaches_the_process(done: dict, part: str) -> None:  # type: ignore[type-arg]
    assert (done[part][0].out, done[part][0].code) == (done["fork"][0].out, 0)
    assert done[part][0].err.count("broken on purpose") >= 1
    assert "Traceback" not in done[part][0].err


def test_rank_0_logs_the_training_of_processes_that_form_a_group(done: dict) -> None:  # type: ignore[type-arg]
    one, (folder,) = done["ranks"]
    (run,) = runs(Path(folder) / "runs")
    series = run.series("train/loss")
    assert list(series.steps) == list(range(6)), one.err
    assert list(series.values) == pytest.approx(json.loads(one.out.splitlines()[-1]), rel=1e-6)
    assert (run.config["optimizer/lr"], run.findings, run.faults) == (0.1, [], [])
    (profile,) = (run.path / "profiles").iterdir()
    assert {"rank0.phases", "rank1.phases"} <= {part.name for part in profile.iterdir()}


def own(*args: object) -> None:
    pass


class Own:
    def method(self) -> None: ...
    def __call__(self) -> None: ...


def test_watches_the_users_own_functions_and_no_others() -> None:
    from torch.utils.data._utils.worker import _worker_loop

    process = multiprocessing.Process
    spawned = process(target=import_module("torch.multiprocessing.spawn")._wrap, args=(own, 0, (), ""))
    mine = [process(target=one) for one in (own, partial(own, 1), Own().method, Own(), lambda: None)]
    theirs = [process(target=one) for one in (_worker_loop, multiprocessing.pool.worker, print, subprocess.run)]
    assert all(map(is_of_script, [*mine, spawned]))
    assert not any(map(is_of_script, [*theirs, process()]))


def test_the_note_goes_with_the_process_and_is_gone_after() -> None:
    note = pickle.loads(pickle.dumps(Note("folder", Settings(ignore=("opt",)))))
    assert (note.folder, note.settings.ignore) == ("folder", ("opt",))
    installed, children = Installed(), Children()
    as_ever = multiprocessing.Process.start
    children.install(installed)
    installed.remove()
    assert multiprocessing.Process.start is as_ever
