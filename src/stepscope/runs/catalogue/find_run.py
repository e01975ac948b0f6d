"""Find the folder of the run a user names: by path, or by the references `resolve.py` supports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stepscope.errors import NotFound
from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.runs.catalogue.discover import find_run_folders
from stepscope.runs.catalogue.resolve import age_of, choose
from stepscope.runs.format.ids import is_run_id
from stepscope.runs.format.layout import is_run_folder


def find_run(ref: str | os.PathLike[str], store: Path) -> Path:
    """The folder of the run that `ref` names: a path anywhere, or a reference into a store."""
    text = os.fspath(ref)
    path = Path(text).expanduser()
    if is_run_folder(path):
        return path
    if is_run_id(text) or age_of(text) is not None:
        named = _by_listing(text, [found.path for found in find_run_folders(store)])
        if named is not None:
            return named
    if os.sep in text and path.exists():
        raise NotFound(f"{path} is not a run folder: it has no meta.json; give the folder of a run, or its name or id")
    with Catalogue(store) as catalogue:
        return choose(text, catalogue.entries()).path


def _by_listing(ref: str, paths: Sequence[str]) -> Path | None:
    """The run with this id or age, from folder names alone: ids begin with the time."""
    ids = {os.path.basename(path): path for path in paths}
    if ref in ids:
        return Path(ids[ref])
    number = age_of(ref)
    if number is None or not all(map(is_run_id, ids)) or not 1 <= number <= len(ids):
        return None
    return Path(ids[sorted(ids, reverse=True)[number - 1]])
