"""Tables and images inside artifacts: written as files whose names tell their type."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

import msgspec

from stepscope.files.opening import read_file
from stepscope.track.media import to_media
from stepscope.wandb.errors import UsageError
from stepscope.wandb.images import Image
from stepscope.wandb.tables import Table

_LARGEST = 1 << 30
_TABLE = ".table.json"


def entries_of(value: Any, name: str) -> dict[str, bytes]:
    """The files of a value."""
    if isinstance(value, Table):
        beside = value._wandb_beside_().items()
        files = {name + _TABLE: msgspec.json.encode(value.to_json())}
        for column, things in beside:
            for at, thing in enumerate(things):
                files.update(entries_of(thing, f"{name}{column}/{at + 1}"))
        return files
    made = to_media(value)
    if made is None:
        raise UsageError(f"a {type(value).__name__} cannot be added to an artifact; expected a wandb.Table, Image ...")
    encoded = made.encode(name, 0, 0.0)
    kind = mimetypes.guess_extension(encoded[0][0].mime.partition(";")[0]) or ".bin"
    if len(encoded) == 1:
        return {name + kind: encoded[0][1] or b""}
    return {f"{name}/{at + 1}{kind}": data or b"" for at, (_record, data) in enumerate(encoded)}


def value_from(folder: Path, name: str) -> Any:
    """What was added under a name, from the folder of an extracted artifact."""
    path = folder / name if name.endswith(_TABLE) else folder / (name + _TABLE)
    if path.is_file():
        read = msgspec.json.decode(read_file(path, _LARGEST, within=folder))
        return Table(columns=read["columns"], data=read["data"])
    for path in (folder / name, *sorted(folder.glob(f"{name}.*"))):
        if path.is_file() and path.suffix in (".png", ".jpg", ".jpeg", ".gif", ".webp"):
            return Image(path)
    return None
