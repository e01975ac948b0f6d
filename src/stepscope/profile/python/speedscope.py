"""speedscope's file format, written and read: the profiles of py-spy, rbspy, Hermes and many others come in it.

https://www.speedscope.app/file-format-schema.json: frames once, then profiles, "sampled" (stacks with weights) or
"evented" (frames opened and closed).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from stepscope.common.units import bytes_text
from stepscope.errors import BadData, NotFound
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.profile.python.tree_builder import Frame, TreeBuilder
from stepscope.records.profile import Stack, Unit

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
MOST_BYTES = 512 << 20
MOST_FRAMES = 20_000_000
"""Frames of all stacks together."""

_UNITS: dict[str, tuple[float, Unit]] = {
    "nanoseconds": (1.0, "ns"),
    "microseconds": (1e3, "ns"),
    "milliseconds": (1e6, "ns"),
    "seconds": (1e9, "ns"),
    "bytes": (1.0, "bytes"),
    "none": (1.0, "count"),
}
_WRITTEN: dict[str, str] = {"ns": "nanoseconds", "bytes": "bytes"}


class _Frame(msgspec.Struct):
    name: str
    file: str | None = None
    line: float | None = None


class _Event(msgspec.Struct):
    type: str
    at: float
    frame: int


class _Profile(msgspec.Struct):
    type: str
    name: str = ""
    unit: str = "none"
    samples: list[list[int]] = []
    weights: list[float] = []
    events: list[_Event] = []
    startValue: float = 0.0
    endValue: float = 0.0


class _Shared(msgspec.Struct):
    frames: list[_Frame]


class _File(msgspec.Struct):
    shared: _Shared
    profiles: list[_Profile]
    name: str | None = None


# -- reading ------------------------------------------------------------------------------------------------------


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_file_decoder = msgspec.json.Decoder(_File)


def read_speedscope(path: str | Path) -> Stack:
    """The call tree in a speedscope file; several profiles (threads) become its roots."""
    path = Path(path)
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}") from None
    if size > MOST_BYTES:
        raise BadData(f"{path} has {bytes_text(size)}; speedscope files up to {bytes_text(MOST_BYTES)} are read")
    return speedscope_in(read_file(path, MOST_BYTES), str(path))


def speedscope_in(data: bytes, name: str = "the profile") -> Stack:
    """The call tree in the bytes of a speedscope file."""
    found = _decoded(data, name)
    profiles = [one for one in found.profiles if one.samples or one.events]
    scale, shown = _UNITS.get(_unit_of(profiles, name), (1.0, "count"))
    builder, frames = TreeBuilder(), [_as_frame(one) for one in found.shared.frames]
    budget = MOST_FRAMES
    for profile in profiles:
        above = [(profile.name or "thread", "", 0, 0)] if len(profiles) > 1 else []
        for stack, weight in _stacks(profile, name):
            budget -= len(stack)
            if budget < 0:
                raise BadData(f"{name} has more than {MOST_FRAMES} frames in its stacks; record a shorter part")
            try:
                builder.add([*above, *(frames[index] for index in stack)], weight * scale)
            except IndexError:
                raise BadData(f"{name} is damaged: a stack names a frame that is not in shared.frames") from None
    return builder.stack(id="python-profile", title=found.name or os.path.basename(name), unit=shown)


def _decoded(data: bytes, name: str) -> _File:
    try:
        return _file_decoder.decode(data)
    except MALFORMED as fault:
        raise BadData(
            f"{name} is not a speedscope file: {fault}. It should have 'shared.frames' and 'profiles'"
        ) from None


def _unit_of(profiles: list[_Profile], name: str) -> str:
    """The unit of all profiles."""
    if not profiles:
        raise BadData(f"{name} is a speedscope file without a single sample")
    units = {one.unit: None for one in profiles}
    if len(units) > 1:
        raise BadData(f"{name} has profiles in different units ({', '.join(units)})")
    return profiles[0].unit


def _as_frame(frame: _Frame) -> Frame:
    line = int(frame.line or 0)
    where = f" ({os.path.basename(frame.file)}:{line})" if frame.file and "(" not in frame.name else ""
    return frame.name + where, frame.file or "", line, 0


def _stacks(profile: _Profile, name: str) -> Iterator[tuple[list[int], float]]:
    if profile.type == "sampled":
        if len(profile.samples) != len(profile.weights):
            raise BadData(f"{name} is damaged: {len(profile.samples)} samples, but {len(profile.weights)} weights")
        yield from zip(profile.samples, profile.weights, strict=True)
    elif profile.type == "evented":
        yield from _from_events(profile, name)
    else:
        raise BadData(f"{name} has a profile of type {profile.type!r}; 'sampled' and 'evented' are read")


def _from_events(profile: _Profile, name: str) -> Iterator[tuple[list[int], float]]:
    """The stack that was there between every two events."""
    stack: list[int] = []
    last = profile.events[0].at if profile.events else 0.0
    for event in profile.events:
        if stack and event.at > last:
            yield stack, event.at - last
        last = event.at
        if event.type == "O":
            stack.append(event.frame)
        elif not stack or stack.pop() != event.frame:
            raise BadData(f"{name} is damaged: frame {event.frame} is closed at {event.at} but is not the last open")


# -- writing ------------------------------------------------------------------------------------------------------


def write_speedscope(stack: Stack, path: str | Path) -> None:
    """Write a call tree as a speedscope file, whole or not at all."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(speedscope_bytes(stack))
    temporary.replace(path)


def speedscope_bytes(stack: Stack) -> bytes:
    """One "sampled" profile: a stack for every node that has time of its own."""
    chains: list[list[int]] = []
    samples: list[list[int]] = []
    weights: list[float] = []
    for node, above in enumerate(stack.parent):
        chain = [*(chains[above] if above >= 0 else []), stack.name[node]]
        chains.append(chain)
        if stack.own[node] > 0:
            samples.append(chain)
            weights.append(stack.own[node])
    whole = {
        "$schema": SCHEMA,
        "exporter": "stepscope",
        "name": stack.title,
        "activeProfileIndex": 0,
        "shared": {"frames": [_written(stack, index) for index in range(len(stack.names))]},
        "profiles": [
            {
                "type": "sampled",
                "name": stack.title,
                "unit": _WRITTEN.get(stack.unit, "none"),
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        ],
    }
    return msgspec.json.encode(whole)


def _written(stack: Stack, index: int) -> dict[str, Any]:
    frame: dict[str, Any] = {"name": stack.names[index]}
    if stack.files[index]:
        frame["file"] = stack.files[index]
    if stack.lines[index]:
        frame["line"] = stack.lines[index]
    return frame
