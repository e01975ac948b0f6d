"""Torch's flight recorder: which collectives the backend (NCCL, gloo) has in flight.

On a GPU a collective is only enqueued; the script continues and hangs later, where it waits for the device. The Python
stack then shows the wrong line. The recorder is a buffer that torch keeps anyway; reading it waits for nothing.
"""

from __future__ import annotations

import sys
import threading
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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
_COMPARED = 256
"""Of as many calls a digest is made: some that are equal by chance prove nothing about those before."""
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
            found = fence.call("reading torch's flight recorder", lambda dump=dump: _sent(dump))
            if found:
                return found
    return ()


def _sent(dump: Callable[[], bytes]) -> tuple[Call, ...]:
    with _no_imports():
        told = dump()
    return sent_in(_unpickled(told))


class _ElsewhereOnly(frozenset[str]):
    """Names of torch that are imported when they are asked for, but not by the thread that has made this."""

    def __new__(cls, names: Iterable[str]) -> _ElsewhereOnly:
        made = super().__new__(cls, names)
        made.thread = threading.get_ident()
        return made

    thread: int

    def __contains__(self, name: object) -> bool:
        return threading.get_ident() != self.thread and super().__contains__(name)


_turn = threading.Lock()


@contextmanager
def _no_imports() -> Iterator[None]:
    """To name the frames of a dump, torch looks whether it has `_inductor`, and so would import it on our thread.

    That takes seconds, and breaks an import of the same modules that the script is in the middle of.
    """
    torch: Any = sys.modules.get("torch")
    with _turn:
        names = getattr(torch, "_lazy_modules", None)
        if not isinstance(names, set):
            yield
            return
        torch._lazy_modules = _ElsewhereOnly(names)
        try:
            yield
        finally:
            torch._lazy_modules = names


def _unpickled(dump: bytes) -> dict[str, Any]:
    import pickle  # here: every run imports this module, and torch has imported pickle by now

    found: dict[str, Any] = pickle.loads(dump)
    return found


def sent_in(told: dict[str, Any]) -> tuple[Call, ...]:
    """Those of the default group, with the line of the script; their names must agree, and the sizes of some.

    A call comes with a digest of it and those before it; without it where the recorder has forgotten too many of these.
    """
    entries = [one for one in told.get("entries") or () if _group(one) == "default_pg"]
    digests = array("I", (_digest(one) for one in entries))
    is_whole = bool(entries) and _number(entries[0]) <= 1
    calls = []
    for at in range(max(0, len(entries) - _MOST_SENT), len(entries)):
        start = at + 1 - _COMPARED
        if is_whole or start >= 0:
            calls.append(_call(entries[at], zlib.crc32(digests[max(0, start) : at + 1].tobytes())))
    return tuple(calls)


def _digest(entry: dict[str, Any]) -> int:
    return zlib.crc32(f"{_name(entry)}{_compared(entry)}".encode())


def _name(entry: dict[str, Any]) -> str:
    return str(entry.get("profiling_name", "")).rpartition(":")[2]


def _compared(entry: dict[str, Any]) -> tuple[int, ...]:
    return tuple(next(iter(entry.get("input_sizes") or ((),)), ())) if _name(entry) in _SAME_SIZE else ()


def _call(entry: dict[str, Any], chain: int) -> Call:
    own = (one for one in entry.get("frames") or () if is_own_file(str(one.get("filename", ""))))
    frame: dict[str, Any] = next(own, {})
    where = str(frame.get("filename", "")), int(frame.get("line") or 0)
    return Call(_number(entry), _name(entry), _compared(entry), *where, chain)


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
    if world is None:
        return ()
    return tuple(next((list(world.pg_group_ranks[group]) for group, one in world.pg_names.items() if one == name), ()))


def _number(entry: dict[str, Any]) -> int:
    return int(entry.get("p2p_seq_id" if entry.get("is_p2p") else "collective_seq_id") or 0)


def _group(entry: dict[str, Any]) -> str:
    """The group's own name, and its description where it has one."""
    named = entry.get("process_group") or ("", "")
    kind = " p2p" if entry.get("is_p2p") else ""
    return f"{named[-1] or named[0]}{kind}"
