"""Children log beside their parent, ranks share one run, and every process has files of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.runs.catalogue.change_detection import is_sealed
from stepscope.runs.format import writer_identity
from stepscope.runs.format.layout import log_files, run_folders
from stepscope.track import ranks
from stepscope.track.ranks import Note

Reader = Callable[[Path], Any]
Script = Callable[..., Any]

FORK = """
import multiprocessing, os, sys
import stepscope

def work(number):
    for index in range(50):
        stepscope.log({f"child{number}": float(index)}, step=index)
    print(f"child {number} says hello")

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    run = stepscope.init(system=False, git=False)
    run.log({"x": 1.0})
    children = [multiprocessing.Process(target=work, args=(number,)) for number in range(3)]
    for child in children: child.start()
    for index in range(50): run.log({"parent": float(index)}, step=index)
    for child in children: child.join()
    run.finish()
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_child_processes_log_into_files_of_their_own(run_script: Script, method: str) -> None:
    done, (run,) = run_script(FORK, method)
    assert done.stderr == ""
    wanted = [(index, float(index)) for index in range(50)]
    for name in ("parent", "child0", "child1", "child2"):
        assert run.points(name) == wanted, name
    assert sorted(header.role for header in run.headers) == ["run", "worker", "worker", "worker"]
    assert len({header.pid for header in run.headers}) == 4
    assert [event.status for event in run.events if type(event).__name__ == "End"] == ["finished"]
    assert all(is_sealed(file) for file in log_files(run.path)), "workers close their files as they leave"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_that_calls_init_joins_the_run_instead(run_script: Script, method: str) -> None:
    code = FORK.replace("def work(number):\n", "def work(number):\n    stepscope.init(name='other')\n")
    done, runs = run_script(code, method)
    assert len(runs) == 1, done.stderr
    assert len(runs[0].points("child2")) == 50


ALONE = """
import multiprocessing, stepscope

def work(number):
    for turn in range(2):
        with stepscope.init(name=f"{number}.{turn}", system=False, git=False) as run:
            run.log({"x": 1.0})

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(work, range(3))
"""


def test_children_of_a_parent_without_a_run_have_runs_of_their_own(run_script: Script) -> None:
    _done, runs = run_script(ALONE)
    assert sorted(run.meta.name for run in runs) == ["0.0", "0.1", "1.0", "1.1", "2.0", "2.1"]


DATALOADER = """
import torch, stepscope
class Data(torch.utils.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, index):
        stepscope.log({"loaded": float(index)}, step=index)
        return torch.tensor(float(index))
run = stepscope.init(system=False, git=False)
for batch in torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=2):
    run.log({"sum": batch.sum()})
run.finish()
"""


def test_dataloader_workers_may_log(run_script: Script) -> None:
    done, (run,) = run_script(DATALOADER)
    assert done.returncode == 0, done.stderr
    assert sorted(run.points("loaded")) == [(index, float(index)) for index in range(8)]
    assert [value for _, value in run.points("sum")] == [1.0, 5.0, 9.0, 13.0]


FORK_WITH_THREADS = """
import os, threading, stepscope
run = stepscope.init(system=False, git=False)
stop = threading.Event()
def busy(number):
    while not stop.is_set():
        run.log({f"t{number}": 1.0})
threads = [threading.Thread(target=busy, args=(n,)) for n in range(4)]
for t in threads: t.start()
for turn in range(20):
    pid = os.fork()
    if pid == 0:
        run.log({"child": float(turn)}, step=turn)
        os._exit(0)
    os.waitpid(pid, 0)
stop.set()
for t in threads: t.join()
run.finish()
"""


def test_forking_while_threads_log_never_hangs(run_script: Script) -> None:
    done, (run,) = run_script(FORK_WITH_THREADS)
    assert done.returncode == 0, done.stderr
    assert sorted(run.points("child")) == [(turn, float(turn)) for turn in range(20)]


RANK = """
import sys, stepscope
run = stepscope.init(project="ddp", config={"lr": 0.1}, system=False, git=False)
for step in range(20):
    run.log({"loss": float(run.rank)}, step=step)
run.finish()
print(run.id, run.rank)
"""


def launch(tmp_path: Path, size: int, code: str = RANK, skip: int | None = None, **more: str) -> list[str]:
    script = tmp_path / "ddp.py"
    script.write_text(code)
    processes = []
    for rank in reversed(range(size)):  # rank 0 comes last, as it may
        if rank == skip:
            continue
        environment = {
            **os.environ, "STEPSCOPE_DIR": str(tmp_path / "runs"), "RANK": str(rank), "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(size), "LOCAL_WORLD_SIZE": str(size), "MASTER_ADDR": "localhost", "MASTER_PORT": "29500",
            "TORCHELASTIC_RUN_ID": "none", **more,
        }  # fmt: skip
        processes.append(
            subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True)
        )
    return [process.communicate(timeout=300)[0].strip() for process in processes]


def test_four_ranks_share_one_run(tmp_path: Path, recorded: Reader) -> None:
    lines = launch(tmp_path, 4)
    assert sorted(line.split()[1] for line in lines) == ["0", "1", "2", "3"]
    (path,) = run_folders(tmp_path / "runs")
    run = recorded(path)
    assert sorted((header.rank, header.role) for header in run.headers) == [(rank, "run") for rank in range(4)]
    assert len(run.points("loss")) == 80
    assert sorted(event.status for event in run.events if type(event).__name__ == "End") == ["finished"] * 4


def test_the_next_launch_under_the_same_address_is_another_run(tmp_path: Path) -> None:
    size = {"LOCAL_WORLD_SIZE": "1"}  # as on several machines, where the launcher's pid says nothing
    launch(tmp_path, 2, **size)
    launch(tmp_path, 2, **size)
    assert len(run_folders(tmp_path / "runs")) == 2


def test_a_note_of_a_rank_that_is_gone_counts_only_if_we_were_there_when_it_was_written() -> None:
    """A rank may be done before another has even looked."""
    now = time.time()
    here = writer_identity.host_name()
    gone = Note(run_id="r", attempt=0, restart=0, created=now, host=here, pid=2**22 + 1, pid_started=now)
    assert ranks._is_of_this_job(gone, ranks.Place(1, 2), began=now - 1)
    assert not ranks._is_of_this_job(gone, ranks.Place(1, 2), began=now + 1)


def test_a_second_init_in_all_ranks_is_a_second_shared_run(tmp_path: Path) -> None:
    launch(tmp_path, 2, RANK + RANK)
    assert len(run_folders(tmp_path / "runs")) == 2


def test_a_rank_without_rank_0_records_a_run_of_its_own(tmp_path: Path) -> None:
    (line,) = launch(tmp_path, 2, skip=0, STEPSCOPE_RANK_WAIT_S="0.2")
    (path,) = run_folders(tmp_path / "runs")
    assert line.split()[0] == path.name


@pytest.mark.parametrize(
    ("variables", "rank", "size", "local"),
    [
        ({}, 0, 1, 0),
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, 3, 8, 1),
        ({"RANK": "0", "WORLD_SIZE": "1"}, 0, 1, 0),
        ({"RANK": "x", "WORLD_SIZE": "8"}, 0, 1, 0),
        ({"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4", "SLURM_LOCALID": "0"}, 2, 4, 0),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, 0, 1, 0),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}, 1, 2, 1),
    ],
)
def test_the_launcher_says_which_rank_we_are(variables: dict[str, str], rank: int, size: int, local: int) -> None:
    assert ranks.place(variables)[:3] == (rank, size, local)
