"""A recorded step as bytes and as a file: versioned, compact, read back without torch.

magic "STEPSCOPE\\x00"  ·  format (1 byte)  ·  zlib of msgpack of the `StepRecord`, defaults left out
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import msgspec

from stepscope.errors import BadData, NotFound, StorageError
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import read_file
from stepscope.files.packed import inflated
from stepscope.records.step import STEP_FORMAT, StepRecord

SUFFIX = ".step"
_MAGIC = b"STEPSCOPE\x00"
_MOST_BYTES = 1 << 31
"""A step of 100,000 ops unpacks to some 30 MB; a small file that claims to hold more than this is not a step."""


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_step_decoder = msgspec.msgpack.Decoder(StepRecord)


def pack(step: StepRecord) -> bytes:
    """The step as bytes."""
    return _MAGIC + bytes([STEP_FORMAT]) + zlib.compress(msgspec.msgpack.encode(step), 6)


def unpack(data: bytes, source: str = "these bytes") -> StepRecord:
    """The step that `pack` made bytes of."""
    start = len(_MAGIC) + 1
    if data[: len(_MAGIC)] != _MAGIC or len(data) < start:
        raise BadData(f"{source}: not a recorded step; `step.save(path)` writes one")
    version = data[len(_MAGIC)]
    if version > STEP_FORMAT:
        raise BadData(
            f"{source}: a recorded step of format {version}, and this Stepscope reads up to {STEP_FORMAT}; "
            "update it: pip install -U stepscope"
        )
    plain = inflated(memoryview(data)[start:], _MOST_BYTES, f"the recorded step in {source}")
    try:
        return _step_decoder.decode(plain)
    except MALFORMED as fault:
        raise BadData(f"{source}: the recorded step is damaged ({fault}); save it again") from fault


def save(step: StepRecord, path: str | os.PathLike[str]) -> Path:
    """Write a step to a file; a reader sees the old file or the new one, never half of one."""
    target = Path(path)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(pack(step))
        os.replace(beside, target)
    except OSError as fault:
        beside.unlink(missing_ok=True)
        raise StorageError(f"cannot write the step to {target}: {fault.strerror or fault}") from fault
    return target


def load(path: str | os.PathLike[str]) -> StepRecord:
    """Read a step from a file."""
    try:
        data = read_file(path, _MOST_BYTES)
    except FileNotFoundError:
        raise NotFound(f"{path}: no such file; give the path that `step.save` was given") from None
    except OSError as fault:
        raise StorageError(f"cannot read {path}: {fault.strerror or fault}") from fault
    return unpack(data, str(path))
