"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stepscope.cli._json import json_option, print_json
from stepscope.runs.store import usual_store

if TYPE_CHECKING:
    from stepscope.runs.catalogue.catalogue import Catalogue
    from stepscope.runs.read.folder import RunFolder

__all__ = ["catalogue_of", "json_option", "open_named", "print_json", "store_option"]

F = TypeVar("F", bound=Callable[..., Any])


def store_option(function: F) -> F:
    """`--dir`: the store to use."""
    return click.option(
        "--dir",
        "store",
        type=click.Path(path_type=Path),
        default=usual_store,
        show_default="$STEPSCOPE_DIR or stepscope-runs",
        help="The folder with the runs.",
    )(function)


def catalogue_of(store: Path) -> Catalogue:
    """The catalog of a store that must exist."""
    from stepscope.runs.catalogue.catalogue import Catalogue

    _must_exist(store)
    return Catalogue(store)


def _must_exist(store: Path) -> None:
    from stepscope.errors import NotFound

    if not store.exists():
        raise NotFound(
            f"there is no folder {str(store)!r}; give the folder with your runs with --dir, "
            "or make a first run with stepscope.init()"
        )


def open_named(ref: str, store: Path) -> RunFolder:
    """The run the user named: a path, an id or its beginning, a name, or `last`."""
    from stepscope.runs.catalogue.find_run import find_run
    from stepscope.runs.format.layout import is_run_folder
    from stepscope.runs.read.folder import open_run

    if not is_run_folder(Path(ref).expanduser()):
        _must_exist(store)
    return open_run(find_run(ref, store))
