"""Write event files: a file's head, columns of scalars at once, and summaries one by one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.eventfiles.crc32c import masked_rows
from stepscope.eventfiles.records import encode_record
from stepscope.eventfiles.tensors import encode_strings, encode_tensor
from stepscope.eventfiles.wire import (
    message,
    put_bytes,
    put_double,
    put_float,
    put_int,
    put_text,
)

_VERSION = "brain.Event:2"
_STATUS_SUCCESS, _STATUS_FAILURE = 1, 2


def version(time: float) -> bytes:
    """The first record of a file."""
    return encode_record(put_double(1, time) + put_text(3, _VERSION))


def event(time: float, step: int, value: bytes) -> bytes:
    """A record with one value of a summary."""
    return encode_record(put_double(1, time) + put_int(2, step) + message(5, [put_bytes(1, value)]))


def scalars(
    tag: str,
    steps: npt.NDArray[np.int64],
    times: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
    *,
    double: bool = False,
) -> bytes:
    """The records of a whole series: in float32, like TensorBoard's own writers, or as tensors of float64."""
    if not len(steps):
        return b""
    widths = _step_widths(steps)
    edges = [0, *(np.flatnonzero(np.diff(widths)) + 1).tolist(), len(steps)]
    return b"".join(
        _stretch(tag, steps[a:b], times[a:b], values[a:b], int(widths[a]), double) for a, b in pairwise(edges)
    )


def _step_widths(steps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The number of bytes of each step: none for 0, which protobuf omits."""
    numbers = steps.view(np.uint64)
    widths = np.zeros(len(steps), dtype=np.int64)
    for width in range(1, 11):
        widths += numbers >= np.uint64(1 << (7 * (width - 1)) if width > 1 else 1)
    return widths


def _stretch(
    tag: str,
    steps: npt.NDArray[np.int64],
    times: npt.NDArray[np.float64],
    values: npt.NDArray[np.float64],
    width: int,
    double: bool,
) -> bytes:
    """Records that differ only in their time, step and value: one is built, the others are filled in."""
    number = _scalar_value(tag, double)
    head = b"\x09" + bytes(8) + (b"\x10" + bytes(width) if width else b"")
    example = head + message(5, [put_bytes(1, number)])
    rows = np.tile(np.frombuffer(example, dtype=np.uint8), (len(steps), 1))
    rows[:, 1:9] = times.astype("<f8").view(np.uint8).reshape(-1, 8)
    left = steps.view(np.uint64).copy()
    for place in range(width):
        more = 128 if place < width - 1 else 0
        rows[:, 10 + place] = (left & np.uint64(127)).astype(np.uint8) | more
        left >>= np.uint64(7)
    with np.errstate(all="ignore"):
        packed = values.astype("<f8" if double else "<f4")
    size = packed.itemsize
    start = len(example) - size - (len(_SCALARS) if double else 0)
    rows[:, start : start + size] = packed.view(np.uint8).reshape(-1, size)
    return _framed(rows)


_SCALARS = message(9, [message(1, [put_text(1, "scalars")])])


def _scalar_value(tag: str, double: bool) -> bytes:
    name = put_text(1, tag)
    if not double:
        return name + put_float(2, 0.0)
    return name + message(8, [put_int(1, 2), put_bytes(2, b""), put_bytes(6, bytes(8))]) + _SCALARS


def _framed(rows: npt.NDArray[np.uint8]) -> bytes:
    count, size = rows.shape
    head = np.frombuffer(encode_record(bytes(size))[:12], dtype=np.uint8)
    out = np.empty((count, size + 16), dtype=np.uint8)
    out[:, :12] = head
    out[:, 12:-4] = rows
    out[:, -4:] = masked_rows(rows).astype("<u4").view(np.uint8).reshape(-1, 4)
    return out.tobytes()


# -- values of summaries ---------------------------------------------------------------------------------------


def _plugin(name: str, content: bytes = b"") -> bytes:
    return message(9, [message(1, [put_text(1, name), put_bytes(2, content)])])


def histogram(tag: str, data: bytes) -> bytes:
    """`data` as encoded by `summaries.encode_histogram`."""
    return put_text(1, tag) + put_bytes(5, data)


def image(tag: str, data: bytes, width: int, height: int, channels: int = 3) -> bytes:
    """An encoded image."""
    inner = put_int(1, height) + put_int(2, width) + put_int(3, channels) + put_bytes(4, data)
    return put_text(1, tag) + put_bytes(4, inner)


def audio(tag: str, data: bytes, mime: str, rate: float, channels: int, frames: int) -> bytes:
    """An encoded sound."""
    inner = put_float(1, rate) + put_int(2, channels) + put_int(3, frames) + put_bytes(4, data) + put_text(5, mime)
    return put_text(1, tag) + put_bytes(6, inner)


def text(tag: str, words: str) -> bytes:
    """A text, which TensorBoard shows as Markdown."""
    tensor = encode_strings([words.encode("utf-8", "backslashreplace")])
    return put_text(1, tag) + put_bytes(8, tensor) + _plugin("text")


def pr_curve(tag: str, rows: npt.NDArray[np.float64]) -> bytes:
    """Six rows: true and false positives, true and false negatives, precision, recall."""
    tensor = encode_tensor(rows.astype(np.float32))
    return put_text(1, tag) + put_bytes(8, tensor) + _plugin("pr_curves", put_int(2, rows.shape[1]))


def hparams(
    settings: dict[str, Any], metrics: list[str], started: float, ended: float | None, failed: bool
) -> list[bytes]:
    """The data for the hparams page: what to compare, this run's settings, and how it ended."""
    infos = [message(4, [put_text(1, name), put_int(4, _hparam_type(value))]) for name, value in settings.items()]
    wanted = [message(5, [message(1, [put_text(2, tag)])]) for tag in metrics]
    entries = [message(1, [put_text(1, name), put_bytes(2, _hparam(value))]) for name, value in settings.items()]
    status = put_int(1, _STATUS_FAILURE if failed else _STATUS_SUCCESS)
    parts = {
        "_hparams_/experiment": message(2, [*infos, *wanted]),
        "_hparams_/session_start_info": message(3, [*entries, put_double(5, started)]),
        "_hparams_/session_end_info": message(4, [status, put_double(2, ended or 0.0)]),
    }
    return [put_text(1, tag) + _plugin("hparams", content) for tag, content in parts.items()]


def _hparam_type(value: Any) -> int:
    return 2 if isinstance(value, bool) else 3 if isinstance(value, (int, float)) else 1


def _hparam(value: Any) -> bytes:
    """A `google.protobuf.Value`; 0 and False are values too, so they are written out."""
    if isinstance(value, bool):
        return b"\x20" + bytes([value])
    if isinstance(value, (int, float)):
        try:
            return put_double(2, float(value)) or b"\x11" + bytes(8)
        except OverflowError:
            value = str(value)
    return put_bytes(3, str(value).encode("utf-8", "backslashreplace"))
