"""Torch's flight recorder: which collectives the backend (NCCL, gloo) has in flight.

On a GPU a collective is only enqueued; the script continues and hangs later, where it waits for the device. The Python
stack then shows the wrong line. The recorder is a buffer that torch keeps anyway; reading it waits for nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from stepscope import fence
from stepscope.records.hang import Flight

__all__ = ["Recorded", "read_recorder", "recorded_in"]

_DUMPS = ("_dump_fr_trace_json", "_dump_nccl_trace_json")
"""Of torch with or without NCCL, the newest first. The pickled dumps hold the same, with stacks that we have."""
_MOST = 8


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
    return Flight(_number(entry), str(entry.get("profiling_name", "")), tuple(shape), _group(entry), entry["state"])


def _number(entry: dict[str, Any]) -> int:
    return int(entry.get("p2p_seq_id" if entry.get("is_p2p") else "collective_seq_id") or 0)


def _group(entry: dict[str, Any]) -> str:
    """The group's own name, and its description where it has one."""
    named = entry.get("process_group") or ("", "")
    kind = " p2p" if entry.get("is_p2p") else ""
    return f"{named[-1] or named[0]}{kind}"
