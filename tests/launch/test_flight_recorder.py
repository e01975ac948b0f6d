"""What torch's flight recorder says of a hang: collectives in flight, and ranks that never sent them out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
import torch.distributed as dist

from stepscope.diagnose.hangs import explain
from stepscope.launch.flight_recorder import _members, read_recorder, recorded_in, sent_in
from stepscope.records.hang import Call, Flight, Hang, RankState


def entry(number: int, state: str = "completed", name: str = "nccl:all_reduce", **more: Any) -> dict[str, Any]:
    """As `_dump_nccl_trace_json` of torch 2.5 and `_dump_fr_trace_json` of torch 2.13 write it."""
    return {
        "record_id": number,
        "pg_id": 0,
        "process_group": ["0", "default_pg"],
        "collective_seq_id": number,
        "p2p_seq_id": 0,
        "op_id": number,
        "profiling_name": name,
        "time_created_ns": 1795001269005571247,
        "input_sizes": [[1024, 8]],
        "input_dtypes": ["Float"],
        "output_sizes": [[1024, 8]],
        "state": state,
        "retired": state == "completed",
        "is_p2p": False,
        "timeout_ms": 600000,
        **more,
    }


def dump(*entries: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"version": "2.10", "pg_config": {}, "nccl_comm_state": {}, "entries": entries})


def test_what_has_not_come_back_is_in_flight() -> None:
    found = recorded_in(dump(entry(1), entry(2, "started"), entry(3, "scheduled", "nccl:broadcast")))
    assert found is not None
    assert found.flights == (
        Flight(2, "nccl:all_reduce", (1024, 8), "default_pg", "started"),
        Flight(3, "nccl:broadcast", (1024, 8), "default_pg", "scheduled"),
    )
    assert found.enqueued == {"default_pg": 3}
    assert recorded_in(dump()) is None


def test_a_rank_that_never_sent_the_collective_is_named() -> None:
    """On a GPU the script hangs in `item()`, after the collective; its stack alone says nothing of it."""
    flight = Flight(1823, "nccl:all_reduce", (4,), "default_pg", "started")
    place = {"kind": "python", "doing": "train()", "file": "/a/train.py", "line": 90}
    waiting = [RankState(rank=rank, flights=(flight,), enqueued={"default_pg": 1823}, **place) for rank in range(3)]
    late = RankState(
        rank=3, kind="data", doing="DataLoader next", file="/a/data.py", line=41, enqueued={"default_pg": 1822}
    )
    assert explain(Hang(time=0.0, ranks=(*waiting, late))) == (
        "ranks 0-2 are in train() (train.py:90), with nccl:all_reduce #1823 in flight; "
        "rank 3 is in DataLoader next (data.py:41): rank 3 has not called nccl:all_reduce #1823 of default_pg"
    )


def test_ranks_outside_the_group_are_not_missed() -> None:
    flight = Flight(1, "gloo:all_reduce", (), "pair", "scheduled", (0, 1))
    waits = RankState(rank=0, flights=(flight,), enqueued={"pair": 1}, kind="collective", doing="all_reduce")
    others = [RankState(rank=rank, kind="collective", doing="barrier", enqueued={"default_pg": 3}) for rank in (1, 2)]
    assert explain(Hang(time=0.0, ranks=(waits, *others))).endswith("rank 1 has not called gloo:all_reduce #1 of pair")


def test_the_recorder_of_this_torch_is_read() -> None:
    if not hasattr(torch._C._distributed_c10d, "_dump_fr_trace_json"):
        pytest.skip("this torch records only NCCL")
    hook = sys.excepthook  # which torch replaces
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        before = sum(read_recorder().enqueued.values())
        dist.all_reduce(torch.ones(4, 2))
        (name,) = dist.distributed_c10d._world.pg_names.values()
        assert _members(name) == (0,)
        assert sum(read_recorder().enqueued.values()) > before
    finally:
        dist.destroy_process_group()
        sys.excepthook = hook


def test_without_a_recorder_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch._C._distributed_c10d", None)  # type: ignore[arg-type]
    assert read_recorder() == ((), {})


def test_collectives_that_torch_calls_itself_have_the_line_of_the_script() -> None:
    frames = [{"filename": "/x/site-packages/torch/nn/parallel/distributed.py", "line": 2363, "name": "_sync"}]
    frames.append({"filename": __file__, "line": 12, "name": "train"})
    broadcast = entry(1, name="gloo:broadcast", frames=frames)
    in_a_group = entry(2, name="gloo:barrier", process_group=("1", "tensor"))
    (call,) = sent_in({"entries": [broadcast, in_a_group]})
    assert (call.number, call.name, call.shape, call.file, call.line) == (1, "broadcast", (1024, 8), __file__, 12)
    (on_a_gpu,) = sent_in({"entries": [entry(1, frames=[])]})  # averaged from a thread of autograd
    assert (on_a_gpu.name, on_a_gpu.file, on_a_gpu.line) == ("all_reduce", "", 0)


def test_calls_that_are_equal_again_do_not_hide_an_older_difference() -> None:
    def sent(names: str, forgotten: int = 0) -> tuple[Call, ...]:
        kinds = {"b": "nccl:broadcast", "r": "nccl:all_reduce"}
        return sent_in({"entries": [entry(n, name=kinds[one]) for n, one in enumerate(names, 1)][forgotten:]})

    same = "bbr" * 20
    parts = f"they diverge at collective #{len(same)}, which is all_reduce"
    one, other = (RankState(rank=rank, sent=sent(same[:-1] + last)) for rank, last in enumerate("rb"))
    assert parts in explain(Hang(time=0.0, ranks=(one, other)))
    shifted = RankState(rank=1, sent=sent("r" + same))
    assert explain(Hang(time=0.0, ranks=(one, shifted))).endswith(": they diverged at least 32 collectives ago")
    assert sent(same, forgotten=1) == ()
    long = "bbr" * 100
    assert sent(long, forgotten=3) == sent(long)


READ = """
import sys, threading, torch, torch.distributed as dist
from stepscope.launch.flight_recorder import read_sent
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
dist.all_reduce(torch.ones(3))
before, names = set(sys.modules), torch._lazy_modules
calls = []
reading = threading.Thread(target=lambda: calls.extend(read_sent()))
reading.start()
reading.join()
assert not {name for name in set(sys.modules) - before if name.startswith("torch.")}, set(sys.modules) - before
assert torch._lazy_modules is names and "_inductor" in names
print([call.name for call in calls])
"""


@pytest.mark.skipif(not hasattr(torch, "_lazy_modules"), reason="this torch imports nothing when asked for a name")
def test_reading_it_imports_nothing_of_torch(tmp_path: Path) -> None:
    """The script may be importing the same modules at that moment, which would then be half done on both threads."""
    (tmp_path / "read.py").write_text(READ)
    done = subprocess.run([sys.executable, "read.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in ("['all_reduce']", "[]")  # only newer torch records gloo
