"""What identifies a run in W&B but not here: its id, entity, job type and sweep, in a small file in the run folder."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from stepscope.files.opening import read_file
from stepscope.runs.format.layout import run_folders

FILE = "wandb.json"
_LARGEST = 1 << 20


class Identity(msgspec.Struct, frozen=True, omit_defaults=True):
    """`wandb.json`: written once, when a run is created through `stepscope.wandb`."""

    id: str | None = None
    """As passed to `init`; by default the run's own id."""
    project: str = ""
    entity: str | None = None
    job_type: str | None = None
    sweep: str | None = None


_decoder = msgspec.json.Decoder(Identity)


def write_identity(run: Path, identity: Identity) -> None:
    temporary = run / f".{FILE}.{os.getpid()}.tmp"
    temporary.write_bytes(msgspec.json.encode(identity))
    os.replace(temporary, run / FILE)


def read_identity(run: Path) -> Identity | None:
    """A run's W&B identity, or None for a run without one."""
    try:
        return _decoder.decode(read_file(run / FILE, _LARGEST, within=run))
    except (OSError, msgspec.DecodeError):
        return None


def find(store: Path, id: str, project: str | None = None) -> Path | None:
    """The newest run with this id, W&B's or ours: in W&B it is one run, which is resumed or replaced."""
    for run in reversed(run_folders(store)):
        if run.name == id:
            return run
        identity = read_identity(run)
        if identity is not None and identity.id == id and project in (None, identity.project):
            return run
    return None
