"""Weights & Biases, offline. It has no local server that charts an offline run."""

from __future__ import annotations

import json
from pathlib import Path
from struct import unpack_from

REQUIREMENTS = ["wandb", "numpy"]


def start(folder: Path):
    import wandb

    return wandb.init(project="bench", mode="offline", dir=str(folder), settings=wandb.Settings(silent=True))


def log(run, step, values):
    run.log(values, step=step)


def finish(run):
    run.finish()


def warm():
    import wandb.proto.wandb_internal_pb2  # noqa: F401


def read(folder: Path, name: str):
    """W&B ships no reader for its offline file; this follows the file's layout (a LevelDB log of protobuf records)."""
    from wandb.proto import wandb_internal_pb2

    steps, values = [], []
    for data in records(next(folder.rglob("*.wandb")).read_bytes()):
        record = wandb_internal_pb2.Record.FromString(data)
        if record.WhichOneof("record_type") != "history":
            continue
        row = {item.key or item.nested_key[0]: item.value_json for item in record.history.item}
        if name in row:
            steps.append(record.history.step.num)
            values.append(json.loads(row[name]))
    return steps, values


def records(data: bytes, block: int = 32768):
    """The records of a LevelDB log: 7-byte headers (checksum, length, type) in 32 KiB blocks, after 7 of magic."""
    position, parts = 7, []
    while position + 7 <= len(data):
        left = block - position % block
        if left < 7:
            position += left
            continue
        _checksum, length, kind = unpack_from("<IHB", data, position)
        if kind == 0:
            return
        parts.append(data[position + 7 : position + 7 + length])
        position += 7 + length
        if kind in (1, 4):
            yield b"".join(parts)
            parts = []
