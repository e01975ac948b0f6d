"""Carry out a run's retention plan: record it, then remove. If interrupted, repeating it finishes the job."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from stepscope.common import clocks
from stepscope.errors import BadData
from stepscope.files.opening import read_file
from stepscope.runs.catalogue.change_detection import is_sealed
from stepscope.runs.compact.thin import thin
from stepscope.runs.format.blobs import blob_path
from stepscope.runs.format.filesystem import create_file, sync_folder
from stepscope.runs.format.frames import Frame, Hole, Kind, encode, scan
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import BLOBS, log_files
from stepscope.runs.format.ledger import note_removed
from stepscope.runs.retention.plan import Plan

_LARGEST_LOG = 1 << 30
_DIGEST = 32


@dataclass
class CarriedOut:
    points: int = 0
    bytes: int = 0
    removed: list[str] = field(default_factory=list)
    """Removed files, by name within the run."""
    rewritten: list[str] = field(default_factory=list)
    """Media logs that kept their name but shrank."""
    problems: list[str] = field(default_factory=list)


def carry_out(run: Path, plan: Plan, now: float | None = None) -> CarriedOut:
    """Remove what a plan lists, in a run that has ended."""
    done = CarriedOut()
    files = {f"{BLOBS}/{sha256}": size for sha256, size in plan.blobs.items()}
    if files or plan.media:
        note_removed(run, files, set(plan.media), clocks.time() if now is None else now)
    for sha256, size in plan.blobs.items():
        blob_path(run, sha256).unlink(missing_ok=True)
        done.removed.append(f"{BLOBS}/{sha256}")
        done.bytes += size
    if plan.blobs:
        sync_folder(run / BLOBS)
    in_logs = {bytes.fromhex(sha256) for sha256 in plan.media.keys() - plan.blobs.keys()}
    if in_logs:
        for path in log_files(run):
            if ".media." in path.name:
                _slim(run, path, in_logs, done)
    if plan.thin:
        _thin(run, done, now)
    return done


def _thin(run: Path, done: CarriedOut, now: float | None) -> None:
    result = thin(run)
    if result.skipped:
        done.problems.append(result.skipped)
    if result.replaced:
        # Last: a crash in between costs one transfer of a file that is then rejected as known.
        note_removed(run, result.replaced, set(), clocks.time() if now is None else now)
    done.points += result.points
    done.bytes += result.bytes_before - result.bytes_after
    done.removed += result.replaced


def _slim(run: Path, path: Path, digests: set[bytes], done: CarriedOut) -> None:
    """Remove the bytes of some media from a log; their records and all other frames are unchanged."""
    if not is_sealed(path):
        done.problems.append(f"{path.name} is still open; wait until the run has ended")
        return
    before = read_file(path, _LARGEST_LOG, within=run)
    frames = list(scan(before))
    if any(isinstance(frame, Hole) for frame in frames):
        done.problems.append(f"{path.name} is damaged and stays as it is")
        return
    sound = [frame for frame in frames if isinstance(frame, Frame)]
    after = b"".join(encode(frame.kind, frame.seq, _shortened(frame, digests)) for frame in sound)
    if len(after) == len(before):
        return
    temporary = path.with_name(f".{new_run_id()}.tmp")
    try:
        with os.fdopen(create_file(temporary), "wb") as out:
            out.write(after)
            out.flush()
            os.fsync(out.fileno())
        if read_file(temporary, _LARGEST_LOG, within=run) != after:
            raise BadData(f"{path.name} differed when read back; nothing was removed")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(run)
    done.bytes += len(before) - len(after)
    done.rewritten.append(path.name)


def _shortened(frame: Frame, digests: set[bytes]) -> bytes:
    """A frame's payload; for removed bytes only the hash, which tells readers that they existed."""
    payload = bytes(frame.payload)
    gone = frame.kind == Kind.BYTES and payload[:_DIGEST] in digests
    return payload[:_DIGEST] if gone else payload
