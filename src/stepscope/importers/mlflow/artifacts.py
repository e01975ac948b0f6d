"""The files of an MLflow run: images logged at steps, tables, texts and pages as media, the rest as files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from stepscope.errors import BadData, StepscopeError
from stepscope.files.decoding import MALFORMED
from stepscope.files.listing import plain_files
from stepscope.files.opening import read_file, read_text
from stepscope.importers.foreign import Piece, Thing
from stepscope.importers.things import file_thing, things_of
from stepscope.records import Artifact, ArtifactFile
from stepscope.runs.artifacts import digest_of
from stepscope.track.media import Html, Markdown, Table, Text

_PICTURE = re.compile(
    r"(?P<key>.+)(?P<mark>[%+])step[%+](?P<step>-?\d+)[%+]timestamp[%+](?P<time>\d+)[%+](?P<id>[-\w]+?)"
    r"(?P<small>[%+]compressed)?\.(png|webp)"
)
_SMALL = 1 << 20
_COPIED = 64 << 20
"""Larger files (weights) are not copied, and the run records their location."""
_WORDS = {".html": Html, ".htm": Html, ".md": Markdown, ".markdown": Markdown, ".txt": Text, ".log": Text}
Seen = dict[str, list[int]]


def artifacts_of(root: Path, tags: dict[str, str], seen: Seen, lost: list[str]) -> Iterator[Piece]:
    """What is new or has changed among the files below `root`; `seen` remembers what was there."""
    tables = _tables(tags)
    for path in plain_files(root):
        inner = path.relative_to(root).as_posix()
        try:
            stat = path.stat()
            mark = [stat.st_size, stat.st_mtime_ns // 1_000_000]
            if seen.get(inner) == mark:
                continue
            pieces = _pieces(root, path, inner, stat.st_mtime, is_table=inner in tables)
        except (OSError, ValueError, KeyError, TypeError, StepscopeError) as fault:
            lost.append(f"{path} cannot be read: {fault}")
            continue
        seen[inner] = mark
        yield from pieces


def _tables(tags: dict[str, str]) -> set[str]:
    """The files that `log_table` wrote, from the tag in which MLflow lists them."""
    try:
        listed = msgspec.json.decode(tags.get("mlflow.loggedArtifacts", "[]"))
        return {str(each["path"]) for each in listed if each.get("type") == "table"}
    except (*MALFORMED, AttributeError, KeyError, TypeError):
        return set()


def _pieces(root: Path, path: Path, inner: str, when: float, *, is_table: bool) -> list[Any]:
    picture = _PICTURE.fullmatch(path.name) if inner.startswith("images/") else None
    if picture is not None:
        if picture["small"]:
            return []  # a thumbnail of the one beside it
        key = picture["key"].replace("~" if picture["mark"] == "+" else "#", "/")  # newer versions mark with +
        return [file_thing(path, key, int(picture["step"]), int(picture["time"]) / 1000, kind="image", within=root)]
    size = path.stat().st_size
    if size > _COPIED:
        return [_reference(path, inner, size, when)]
    if is_table:
        return _table(root, path, inner, when)
    made = _words(root, path) if size <= _SMALL else None
    if made is not None:
        return things_of(made, inner, 0, when)
    return [file_thing(path, inner, 0, when, within=root)]


def _table(root: Path, path: Path, inner: str, when: float) -> list[Thing]:
    content = json.loads(read_file(path, _COPIED, within=root))
    if not isinstance(content, dict):
        raise BadData("a table that is not a JSON object")
    return things_of(Table(rows=content["data"], columns=[str(name) for name in content["columns"]]), inner, 0, when)


def _words(root: Path, path: Path) -> Any:
    kind = _WORDS.get(path.suffix)
    return None if kind is None else kind(read_text(path, _SMALL, within=root))


def _reference(path: Path, inner: str, size: int, when: float) -> Artifact:
    file = ArtifactFile(path=inner, sha256="", size=size, reference=str(path.absolute()))
    name = inner.replace(":", "-")[-200:]
    return Artifact(time=when, name=name, type="file", version=0, digest=digest_of([file]), files=[file])
