"""Torch's flight recorder: which collectives the backend (NCCL, gloo) has in flight.

On a GPU a collective is only enqueued; the script continues and hangs later, where it waits for the device. The Python
stack then shows the wrong line. The recorder is a buffer that torch keeps anyway; reading it waits for nothing.
"""

from __future__ import annotations

import pickle
import sys
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from stepscope import fence
from stepscope.common.code_owner import is_own_file
from stepscope.records.hang import Call, Flight

__all__ = ["Recorded", "read_recorder", "read_sent", "recorded_in", "sent_in"]

_DUMPS = ("_dump_fr_trace_json", "_dump_nccl_trace_json")
"""Of torch with or without NCCL, the newest first."""
_PICKLED = ("_dump_fr_trace", "_dump_nccl_trace")
"""The same with the Python stack of each call, also of those that DistributedDataParallel and FSDP make in C++."""
_MOST = 8
_MOST_SENT = 32
_SAME_SIZE = ("all_reduce", "broadcast", "_all_gather_base", "_allgather_base", "_reduce_scatter_base")
"""Operations whose input has the same size on all ranks."""


class Recorded(NamedTuple):
    flights: tuple[Flight, ...]
    enqueued: dict[str, int]


def read_recorder() -> Recorded:
    """What is in flight on this rank; nothing where torch has no recorder, or it is off."""
    bindings = sys.modules.get("torch._C._distributed_c10d")
    for name in _DUMPS:
        dump = getattr(bindings, name, None)
        if dump is not None:
            found = fence.call("reading torch's flight recorder", lambda dump=dump: recorded_in(dump()))
            if found:
                return found
    return Recorded((), {})


def read_sent() -> tuple[Call, ...]:
    """The last collectives of all ranks, in the order in which this one sent them out."""
    bindings = sys.modules.get("torch._C._distributed_c10d")
    for name in _PICKLED:
        dump = getattr(bindings, name, None)
        if dump is not None:
            found = fence.call("reading torch's flight recorder", lambda dump=dump: sent_in(pickle.loads(dump())))
            if found:
                return found
    return ()


def sent_in(told: dict[str, Any]) -> tuple[Call, ...]:
    """Those of the default group, with the line of the script; their names must agree, and the sizes of some."""
    entries = [one for one in told.get("entries") or () if _group(one) == "default_pg"]
    return tuple(_call(one) for one in entries[-_MOST_SENT:])


def _call(entry: dict[str, Any]) -> Call:
    name = str(entry.get("profiling_name", "")).rpartition(":")[2]
    shape = tuple(next(iter(entry.get("input_sizes") or ((),)), ()))
    own = (one for one in entry.get("frames") or () if is_own_file(str(one.get("filename", ""))))
    frame = next(own, {})
    compared = shape if name in _SAME_SIZE else ()
    return Call(
        _number(entry), name, compared, str(frame.get("filename", "")), int(frame.get("line") or 0),
        zlib.crc32(f"{name}{compared}".encode()),
    )  # fmt: skip


def recorded_in(dump: bytes | str) -> Recorded | None:
    """What a dump says; None for one without collectives."""
    told: dict[str, Any] = msgspec.json.decode(dump)
    entries = [one for one in told.get("entries") or () if isinstance(one, dict)]
    if not entries:
        return None
    open_ones = [one for one in entries if not one.get("retired") and one.get("state") != "completed"]
    enqueued: dict[str, int] = {}
    for one in entries:
        group = _group(one)
        enqueued[group] = max(enqueued.get(group, 0), _number(one))
    return Recorded(tuple(map(_flight, open_ones[:_MOST])), enqueued)


def _flight(entry: dict[str, Any]) -> Flight:
    sizes: Iterable[Any] = entry.get("input_sizes") or ((),)
    shape = next(iter(sizes), ())
    return Flight(
        _number(entry), str(entry.get("profiling_name", "")), tuple(shape), _group(entry), entry["state"],
        _members(str((entry.get("process_group") or ("",))[0])),
    )  # fmt: skip


def _members(name: str) -> tuple[int, ...]:
    """The ranks of a group of this process; the recorder does not know them for every backend."""
    module = sys.modules.get("torch.distributed.distributed_c10d")
    world = getattr(module, "_world", None)
    names = getattr(world, "pg_names", None) or {}
    return tuple(next((list(world.pg_group_ranks[group]) for group, one in names.items() if one == name), ()))


def _number(entry: dict[str, Any]) -> int:
    return int(entry.get("p2p_seq_id" if entry.get("is_p2p") else "collective_seq_id") or 0)


def _group(entry: dict[str, Any]) -> str:
    """The group's own name, and its description where it has one."""
    named = entry.get("process_group") or ("", "")
    kind = " p2p" if entry.get("is_p2p") else ""
    return f"{named[-1] or named[0]}{kind}"
