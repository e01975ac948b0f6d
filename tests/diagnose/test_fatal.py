"""Ranks that C++ code ended: read from what Python's fault handler wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from stepscope.diagnose.fatal import fatal_file, fatal_states
from stepscope.diagnose.hangs import parted_finding
from stepscope.records.hang import Call, RankState

ABORTS = """
import faulthandler, os, sys
from pathlib import Path
from stepscope.diagnose.fatal import fatal_file
from stepscope.events.fatal_errors import FatalErrors

def train():
    if os.fork() == 0:
        os.abort()  # a worker that dies is not the rank
    os.wait()
    {how}

FatalErrors().begin(fatal_file(Path(sys.argv[1]), 3))
train()
"""


def _run(tmp_path: Path, how: str) -> Path:
    script = tmp_path / "train.py"
    script.write_text(ABORTS.format(how=how))
    subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, check=False)
    return script


def test_an_aborted_rank_leaves_where_it_was(tmp_path: Path) -> None:
    script = _run(tmp_path, "os.abort()")
    (state,) = fatal_states(tmp_path)
    assert (state.rank, state.kind, state.error, state.file, state.line) == (3, "aborted", "Aborted", str(script), 11)


def test_a_worker_that_dies_is_not_the_rank(tmp_path: Path) -> None:
    _run(tmp_path, "pass")
    assert fatal_states(tmp_path) == []


def test_the_file_goes_when_the_script_ends_well(tmp_path: Path) -> None:
    _run(tmp_path, "")
    from stepscope.events.fatal_errors import FatalErrors

    was_there = fatal_file(tmp_path, 0)
    fatal = FatalErrors()
    fatal.begin(was_there)
    fatal.end()
    assert not was_there.exists()


def test_a_script_that_enables_the_fault_handler_keeps_it(tmp_path: Path) -> None:
    fatal = (
        "import faulthandler, os, sys\nfrom pathlib import Path\n"
        "from stepscope.events.fatal_errors import FatalErrors\n"
        "fatal = FatalErrors()\nfatal.begin(Path(sys.argv[1]))\nfaulthandler.enable()\n"
        "if os.fork() == 0:\n    os._exit(0 if faulthandler.is_enabled() else 3)\n"
        "assert os.wait()[1] == 0\nfatal.end()\nassert faulthandler.is_enabled()\n"
    )
    subprocess.run([sys.executable, "-c", fatal, str(tmp_path / "fatal.txt")], check=True)


def test_a_rank_that_waits_for_one_that_has_ended_is_explained() -> None:
    own = RankState(rank=0, kind="collective", doing="broadcast", file="/a/train.py", line=16)
    others = [RankState(rank=rank, kind="ended", step=24) for rank in (1, 2)]
    finding = parted_finding([own, *others])
    assert (finding.rule, finding.line) == ("dist.collective-mismatch", 16)
    assert finding.message == (
        "the ranks do not call the same collectives: rank 0 waits in broadcast (train.py:16); "
        "ranks 1, 2 have ended after 24 steps"
    )


def test_an_aborted_rank_is_named_with_the_first_call_that_differs() -> None:
    before = Call(17, "all_reduce", (), "/a/train.py", 38, 2)
    sent = [
        (before, Call(18, name, (), "/a/train.py", line, chain))
        for name, line, chain in (("broadcast", 16, 1), ("all_reduce", 38, 2))
    ]
    own = RankState(rank=0, kind="backward", doing="backward", file="/a/train.py", line=38, sent=sent[1])
    other = RankState(
        rank=1, kind="aborted", error="Aborted", doing="all_gather", file="/a/train.py", line=16, sent=sent[0]
    )
    assert parted_finding([own, other]).message == (
        "the ranks do not call the same collectives: rank 0 waits in backward (train.py:38); "
        "rank 1 was ended by C++ code (Aborted) in all_gather (train.py:16): they diverge at collective #18, which is "
        "all_reduce (train.py:38) on rank 0 and broadcast (train.py:16) on rank 1"
    )


def test_a_rank_that_is_over_is_said_to_be_at_its_end() -> None:
    over = RankState(rank=0, kind="python")
    other = RankState(rank=1, kind="aborted", error="Aborted", doing="all_gather", file="/a/train.py", line=16)
    assert parted_finding([over, other]).message.endswith(
        "rank 0 is at the end of the script; rank 1 was ended by C++ code (Aborted) in all_gather (train.py:16)"
    )
