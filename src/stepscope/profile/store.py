"""The folder of a profile: which files it may hold, how they are found, how its description is written.

Files are found by listing, so that every rank and every helper process adds its own without touching the others';
`profile.json` (of rank 0) and `rank3.profile.json` (of rank 3) say what was recorded.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from stepscope.errors import BadData, NotFound
from stepscope.files.decoding import MALFORMED
from stepscope.files.opening import plain_size, read_file
from stepscope.records.profile import ProfileFile, ProfileMeta
from stepscope.runs.format.filesystem import make_folder
from stepscope.runs.format.layout import write_file
from stepscope.runs.format.sealed import seal_of, sealed
from stepscope.runs.format.sidecar import note_checksum

PROFILES = "profiles"
"""The folder inside a run folder; each profile is a folder of its own in it."""
SIMPLE = "simple"
"""The id of the profile every run has: its steps by phase."""
REQUEST = "request"
"""A file in the folder of profiles: the running training is asked for a window, and takes the file away."""
_META = "profile.json"
_LARGEST_META = 64 << 20
_OF_RANK = re.compile(r"rank(\d+)\.profile\.json")
Kind = Literal["events", "trace", "prof", "stacks", "memory", "facts", "phases", "data", "other"]
_KINDS: dict[str, Kind] = {
    "events": "events", "trace.json.gz": "trace", "trace.json": "trace", "prof": "prof", "stacks": "stacks",
    "memory": "memory", "facts.json": "facts", "phases": "phases", "data.json": "data",
}  # fmt: skip
_PART = re.compile(rf"rank(\d+)\.(?:[\w-]+\.)*?({'|'.join(map(re.escape, _KINDS))})")


# Made here and not on first use, which two threads could make at once: msgspec (0.22) then ends the process.
_meta_decoder = msgspec.json.Decoder(ProfileMeta)


def is_profile_folder(folder: Path) -> bool:
    """Whether this is a profile's folder: somebody has described what is in it."""
    try:
        return not folder.is_symlink() and any(_is_meta(name) for name in os.listdir(folder))
    except OSError:
        return False


def _is_meta(name: str) -> bool:
    return name == _META or _OF_RANK.fullmatch(name) is not None


def files_in(folder: Path) -> list[ProfileFile]:
    """What lies in a profile's folder, by the names collectors use; links are not followed."""
    found: list[ProfileFile] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            match = _PART.fullmatch(entry.name)
            if match is not None and entry.is_file(follow_symlinks=False):
                found.append(
                    ProfileFile(name=entry.name, kind=_KINDS[match[2]], rank=int(match[1]), bytes=entry.stat().st_size)
                )
    return sorted(found, key=lambda file: (file.rank, file.name))


def read_meta(folder: Path) -> ProfileMeta:
    """What was recorded: rank 0's word, else that of the lowest rank there is; files as they lie there now."""
    try:
        names = [name for name in os.listdir(folder) if _is_meta(name)]
    except OSError:
        names = []
    if not names:
        raise NotFound(f"{folder} is not a profile: it has no {_META}")
    names.sort(key=lambda name: -1 if name == _META else int(name[4:].split(".")[0]))
    all_metas = [_decoded(folder / name) for name in names]
    first = all_metas[0]
    listed = {file.name: file for file in first.files if _is_there(folder, file.name)}
    listed.update({file.name: file for file in files_in(folder)})
    notes = [note for meta in all_metas for note in meta.notes]
    files = sorted(listed.values(), key=lambda file: (file.rank, file.name))
    world = max(max(meta.world for meta in all_metas), 1 + max((file.rank for file in files), default=0))
    return msgspec.structs.replace(first, files=files, world=world, notes=list(dict.fromkeys(notes)))


def _is_there(folder: Path, name: str) -> bool:
    """Beside profile.json, whatever it says."""
    return Path(name).name == name and plain_size(folder / name) is not None


def _decoded(file: Path) -> ProfileMeta:
    try:
        data = read_file(file, _LARGEST_META, within=file.parent)
        if seal_of(data) == "damaged":
            raise BadData(f"{file} is damaged: it does not match its checksum; the other profiles of the run are whole")
        return _meta_decoder.decode(data)
    except FileNotFoundError:
        raise NotFound(f"{file.parent} is no longer a profile: {file.name} is gone") from None
    except MALFORMED as fault:
        raise BadData(f"{file} is damaged: {fault}; the other profiles of the run are whole") from None


def new_folder(run_folder: Path, id: str, rank: int) -> Path:
    """A folder for this rank's part of a profile. Ranks that record the same steps meet in one folder.

    A second profile with the same id (the training was resumed and came to the step again) is `ID-2`.
    """
    profiles = run_folder / PROFILES
    make_folder(profiles, exist_ok=True)
    for number in range(1, 10_000):
        folder = profiles / (id if number == 1 else f"{id}-{number}")
        make_folder(folder, exist_ok=True)
        if not any(_belongs(name, rank) for name in os.listdir(folder)):
            return folder
    raise BadData(f"{profiles} holds ten thousand profiles {id!r}; remove some")


def _belongs(name: str, rank: int) -> bool:
    return name.startswith(f"rank{rank}.") or (rank == 0 and name == _META)


def write_meta(folder: Path, meta: ProfileMeta, rank: int = 0) -> None:
    """Say what this rank has recorded; after this the profile is there for readers."""
    name = _META if rank == 0 else f"rank{rank}.profile.json"
    write_file(folder / name, sealed(msgspec.json.format(msgspec.json.encode(meta), indent=1)))


def write_part(folder: Path, name: str, data: bytes | Any) -> None:
    """A file of the profile: bytes as they are, anything else as JSON (`*.json`) or msgpack."""
    if not isinstance(data, bytes):
        data = msgspec.json.encode(data) if name.endswith(".json") else msgspec.msgpack.encode(data)
    note_checksum(folder / name, data)
    write_file(folder / name, data)


def request_window(run_folder: Path, steps: int | None = None) -> Path:
    """Ask the training that writes this run for a window of this many steps, as the button in the browser does."""
    profiles = run_folder / PROFILES
    make_folder(profiles, exist_ok=True)
    write_file(profiles / REQUEST, msgspec.json.encode({"steps": steps}))
    return profiles / REQUEST
