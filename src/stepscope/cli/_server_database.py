"""What `stepscope server users` and `tokens` share: which server they manage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from stepscope.database.engine import Database

F = TypeVar("F", bound=Callable[..., Any])
DAY_S = 86400.0


def database_options(function: F) -> F:
    """Options that select the server: its folder or its database."""
    folder = click.option(
        "--folder",
        type=click.Path(path_type=Path),
        default=Path("stepscope-server"),
        show_default=True,
        help="The server's folder.",
    )
    return folder(database_option(function))


def database_option(function: F) -> F:
    return click.option(
        "--database",
        envvar="STEPSCOPE_DATABASE",
        metavar="URL",
        help="The server's database: postgresql://...; a SQLite file in its folder by default.",
    )(function)


@contextmanager
def people_of(folder: Path, database: str | None, *, new: bool = False) -> Iterator[Database]:
    """The users of the server in this folder; created if `new`."""
    from stepscope.errors import MissingExtra, NotFound

    try:
        from stepscope.database.engine import FILE, default_url
        from stepscope.people.setup import open_people
    except ModuleNotFoundError as fault:
        raise MissingExtra("a team server", str(fault.name), extra="server") from None
    if database is None and not new and not (folder / FILE).exists():
        raise NotFound(f"there is no server in {str(folder)!r} yet; give its --folder, or its --database")
    with open_people(database or default_url(folder)) as people:
        yield people


def day(when: object) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(when)) if isinstance(when, float) else "never"
