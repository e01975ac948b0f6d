"""Plain values of the user's running functions: loop counters, schedules, the half of a batch that is a local variable.

A step depends on more than its batch: `beta = min(1, step / 1000)`, `self.epoch`, targets picked by an index. These are
read when a step has failed, and put back into the same functions when it is replayed.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any

import torch

from stepscope.launch.capsule.manifest import Frame
from stepscope.launch.capsule.safe_encoding import Missing, Packer, Unpacker
from stepscope.launch.capsule.tensors import KINDS, nbytes
from stepscope.record.observers.own_frames import is_own

_LARGEST_TENSOR = 16 << 20
_ALL_TENSORS = 128 << 20
_MOST_ITEMS = 64
_MOST_FRAMES = 12
_SCALARS = (bool, int, float, str, type(None))


def own_frames(frame: FrameType | None) -> list[FrameType]:
    """The user's own frames, outermost first."""
    found = []
    while frame is not None:
        if is_own(frame.f_code):
            found.append(frame)
        frame = frame.f_back
    return _from_script(found[::-1])


def frames_of(trace: TracebackType | None) -> list[FrameType]:
    """The user's own frames an exception went through, outermost first."""
    found = []
    while trace is not None:
        if is_own(trace.tb_frame.f_code):
            found.append(trace.tb_frame)
        trace = trace.tb_next
    return _from_script(found)


def _from_script(frames: list[FrameType]) -> list[FrameType]:
    """From the script's first frame on: whoever started it is not part of it."""
    main = getattr(sys.modules.get("__main__"), "__dict__", None)
    first = next((index for index, frame in enumerate(frames) if frame.f_globals is main), 0)
    return frames[first:][:_MOST_FRAMES]


def pack_frames(frames: Sequence[FrameType], packer: Packer) -> list[Frame]:
    """What is plain in each frame; tensors that autograd computed, models and large data are not."""
    room = [_ALL_TENSORS]
    packed = []
    for frame in frames:
        local = dict(frame.f_locals)
        me = local.get("self")
        fields = getattr(me, "__dict__", {}) if me is not None else {}
        packed.append(
            Frame(
                function=frame.f_code.co_name,
                file=frame.f_code.co_filename,
                values=_plain_ones(local, packer, room),
                fields=_plain_ones({k: v for k, v in fields.items() if isinstance(v, _SCALARS)}, packer, room),
            )
        )
    return packed


def _plain_ones(values: dict[str, Any], packer: Packer, room: list[int]) -> dict[str, Any]:
    found = {}
    for name, value in values.items():
        if name.startswith("__") or name == "self":
            continue
        scale = _scaler_state(value)
        if scale is not None:
            found[name] = {"$state": packer.pack(scale, name)}
        elif _is_plain(value, room):
            found[name] = packer.pack(value, name)
    return found


def _scaler_state(value: Any) -> dict[str, Any] | None:
    """The state of an AMP scaler, whose factor is part of the loss."""
    kind = type(value)
    if kind.__name__ == "GradScaler" and kind.__module__.startswith("torch."):
        state: dict[str, Any] = value.state_dict()
        return state
    return None


def _fits(tensor: torch.Tensor, room: list[int]) -> bool:
    """Whether a tensor is plain and there is room for it, which it then takes."""
    if tensor.grad_fn is not None or tensor.layout is not torch.strided or tensor.dtype not in KINDS:
        return False
    size = nbytes(tensor)
    if size > min(_LARGEST_TENSOR, room[0]):
        return False
    room[0] -= size
    return True


def _is_plain(value: Any, room: list[int]) -> bool:
    if isinstance(value, _SCALARS):
        return not isinstance(value, str) or len(value) < 1000
    if type(value) is torch.Tensor:
        return _fits(value, room)
    if type(value) in (list, tuple) and len(value) <= _MOST_ITEMS:
        return all(_is_plain(item, room) for item in value)
    if type(value) is dict and len(value) <= _MOST_ITEMS:
        return all(isinstance(key, str) and _is_plain(item, room) for key, item in value.items())
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def put_back(saved: Sequence[Frame], running: Sequence[FrameType], unpacker: Unpacker) -> int:
    """Set the saved values in the functions that are running now, as far as these are the same; how many."""
    count = 0
    for frame, now in zip(saved, running, strict=False):
        name = os.path.basename(now.f_code.co_filename)
        if (frame.function, os.path.basename(frame.file)) != (now.f_code.co_name, name):
            break
        count += _set_values(frame, now, unpacker)
    return count


def _set_values(frame: Frame, now: FrameType, unpacker: Unpacker) -> int:
    local = now.f_locals
    is_function = now.f_code.co_name != "<module>"
    changed = 0
    for name, node in frame.values.items():
        if is_function and name not in local and name not in now.f_code.co_varnames:
            continue
        if isinstance(node, dict) and "$state" in node:
            _load_state(local.get(name), node["$state"], unpacker)
            continue
        value = unpacker.unpack(node)
        if not isinstance(value, Missing) and not _same(local.get(name), value):
            local[name] = _over(local.get(name), value)
            changed += 1
    changed += _set_fields(frame, local.get("self"), unpacker)
    if changed and is_function and sys.version_info < (3, 13):
        # Before Python 3.13 `f_locals` of a function is a copy; this writes it back.
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(now), ctypes.c_int(0))
    return changed


def _load_state(holder: Any, state: Any, unpacker: Unpacker) -> None:
    if hasattr(holder, "load_state_dict"):
        holder.load_state_dict(unpacker.unpack(state))


def _set_fields(frame: Frame, me: Any, unpacker: Unpacker) -> int:
    if me is None:
        return 0
    now = getattr(me, "__dict__", {})
    different = [name for name, node in frame.fields.items() if now.get(name, Missing) != node]
    for name in different:
        me.__dict__[name] = unpacker.unpack(frame.fields[name])
    return len(different)


def _over(here: Any, saved: Any) -> Any:
    """What to set: trained tensors stay the objects an optimizer may hold, and get the saved values."""
    both = isinstance(saved, torch.Tensor) and isinstance(here, torch.Tensor)
    if both and saved.requires_grad and here.is_leaf and (here.shape, here.dtype) == (saved.shape, saved.dtype):
        with torch.no_grad():
            here.copy_(saved)
        return here
    if isinstance(saved, list) and isinstance(here, list) and len(saved) == len(here):
        return [_over(*pair) for pair in zip(here, saved, strict=True)]
    return saved


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.shape == other.shape and one.dtype == other.dtype and bool(torch.equal(one, other))
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other)
