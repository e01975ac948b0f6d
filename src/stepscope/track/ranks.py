"""One run for all ranks of a distributed training: rank 0 creates it, the others find it.

Every rank writes its own files. Rank 0 writes a small note into the store, named after what all ranks of the job
share (run id of torchrun, address, port, job step ...). No rank waits for it: docs/design/041-ranks.md.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from stepscope.common import clocks
from stepscope.files.opening import read_file
from stepscope.runs.format.filesystem import is_remote, make_common_folder
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import is_run_folder, write_file
from stepscope.runs.format.writer_identity import host_name, process_started
from stepscope.track.children import is_child_process

WAIT_S = 5.0
"""How long another rank keeps its data in memory, while its script runs, before it uses a separate folder."""
FRESH_S = 120.0
"""A note older than this when our process started belongs to an earlier job at the same address."""
KEPT_S = 7 * 86400.0
FOLDER = ".ranks"
_LARGEST_NOTE = 1 << 20
_LAUNCHER = "launcher="
_SCHEMES = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
)
"""Rank, number of ranks, rank on the machine, number of ranks on the machine."""
_JOB_NAMES = (
    "TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "SLURM_JOB_ID", "SLURM_STEP_ID", "OMPI_MCA_ess_base_jobid",
    "PMIX_NAMESPACE", "PMI_JOBID",
)  # fmt: skip


class Place(NamedTuple):
    """This process's place in its job."""

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    job: str = ""
    """The same text on all ranks of one job."""
    restart: int = 0
    """How often torchrun has restarted the ranks."""
    local_size: int = 1
    """Number of ranks on this machine, if the launcher provides it."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """The note from rank 0 to the others."""

    run_id: str
    attempt: int
    restart: int
    created: float
    host: str
    pid: int
    pid_started: float


def place(variables: Mapping[str, str] = os.environ) -> Place:
    """This process's rank, from the launcher's variables or from torch.distributed; rank 0 of 1 without any."""
    for rank_name, size_name, local_name, local_size_name in _SCHEMES:
        rank, size = _number(variables.get(rank_name)), _number(variables.get(size_name))
        if rank is not None and size is not None and size > 1 and 0 <= rank < size:
            local = _number(variables.get(local_name)) or 0
            restart = _number(variables.get("TORCHELASTIC_RESTART_COUNT")) or 0
            local_size = _number(variables.get(local_size_name)) or 1
            return Place(rank, size, local, _job(variables, size), restart, local_size)
    return _place_in_group(variables)


def _place_in_group(variables: Mapping[str, str]) -> Place:
    """The rank in a process group that the script has set up itself (torch.multiprocessing.spawn)."""
    group = sys.modules.get("torch.distributed")
    if group is None or not group.is_available() or not group.is_initialized():
        return Place()
    size = group.get_world_size()
    return Place(group.get_rank(), size, group.get_rank(), _job(variables, size)) if size > 1 else Place()


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _job(variables: Mapping[str, str], size: int) -> str:
    parts = [f"{name}={variables[name]}" for name in _JOB_NAMES if name in variables]
    local_size = _number(variables.get("LOCAL_WORLD_SIZE"))
    if local_size == size or is_child_process():
        # All ranks are children of one launcher on one machine, and the next launch has a different one.
        parts.append(f"{_LAUNCHER}{host_name()}:{os.getppid()}:{process_started(os.getppid())}")
    return " ".join(parts)


def _path(store: Path, where: Place, turn: int) -> Path:
    name = hashlib.sha256(f"{where.job} size={where.world_size} turn={turn}".encode()).hexdigest()[:24]
    return store / FOLDER / f"{name}.json"


def leave_note(store: Path, where: Place, turn: int, run_id: str, attempt: int) -> None:
    """Tell the other ranks which run this is. `turn` counts the runs this job has opened."""
    path = _path(store, where, turn)
    make_common_folder(path.parent)
    note = Note(
        run_id=run_id,
        attempt=attempt,
        restart=where.restart,
        created=clocks.time(),
        host=host_name(),
        pid=os.getpid(),
        pid_started=process_started(),
    )
    write_file(path, msgspec.json.encode(note))
    _sweep(path.parent, note.created - KEPT_S)


def _sweep(folder: Path, before: float) -> None:
    for old in [*folder.glob("*.json"), *folder.glob("*.part")]:
        try:
            if old.stat().st_mtime < before:
                old.unlink()
        except OSError:  # another job removed it, or it is not ours to touch: harmless
            continue


is_on_network = lru_cache(maxsize=16)(is_remote)


def read_note(store: Path, where: Place, turn: int) -> Note | None:
    """The current note, if it can be read."""
    folder = store / FOLDER
    wanted = _path(store, where, turn)
    try:
        # By listing: a name looked up too early may be cached as absent on a network file system.
        if is_on_network(store) and wanted.name not in os.listdir(folder):
            return None
        return msgspec.json.decode(read_file(wanted, _LARGEST_NOTE, within=folder), type=Note)
    except (OSError, msgspec.DecodeError):
        return None


def find_note(store: Path, where: Place, turn: int, began: float) -> Note | None:
    """The note of rank 0 of this very job, if there is one. `began` is this process's start, in unix seconds."""
    note = read_note(store, where, turn)
    if note is not None and _is_of_this_job(note, where, began) and is_run_folder(store / note.run_id):
        return note
    return None


def leave_part(store: Path, where: Place, turn: int, run_id: str) -> None:
    """Tell rank 0 that this rank could not wait and records to a separate folder."""
    path = _part_path(store, where, turn)
    make_common_folder(path.parent)
    write_file(path, run_id.encode())


def parts(store: Path, where: Place, turn: int) -> list[tuple[Path, Path]]:
    """The folders of ranks that found no run in time, each with its note."""
    prefix, folder = _path(store, where, turn).stem, store / FOLDER
    found = []
    for path in sorted(folder.glob(f"{prefix}.{where.restart}.*.part")):
        try:
            name = read_file(path, _LARGEST_NOTE, within=folder).decode()
        except (OSError, ValueError):
            continue
        if is_run_id(name) and is_run_folder(store / name):
            found.append((store / name, path))
    return found


def _part_path(store: Path, where: Place, turn: int) -> Path:
    whole = _path(store, where, turn)
    return whole.with_name(f"{whole.stem}.{where.restart}.{where.rank}.part")


def _is_of_this_job(note: Note, where: Place, began: float) -> bool:
    if note.restart != where.restart:
        return False
    if _LAUNCHER in where.job:  # no other job has this launcher
        return True
    if note.created < began - FRESH_S:
        return False
    # A note of this machine is checked against its writer: it must be alive, unless it wrote after we started.
    if note.host != host_name() or note.created >= began:
        return True
    return abs(process_started(note.pid) - note.pid_started) < 1.0
