"""`--json`, on every command: one document on stdout, errors included, and words for people on stderr only.

Commands that run a script take a file (`--json FILE`), because the script prints to stdout too; with `-`, or no name,
the document stands alone on stdout and what the script prints goes to stderr.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

__all__ = ["asked_for_json", "json_option", "json_text", "print_error", "print_json", "print_json_line"]

F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    """`--json`: for programs."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def print_json(value: Any) -> None:
    """Valid JSON on stdout, whatever the numbers: NaN and infinities become strings."""
    click.echo(json_text(value))


def print_json_line(value: Any) -> None:
    """One object of a stream: a line, and out at once."""
    click.echo(json_text(value, indent=-1))


def json_text(value: Any, indent: int = 2) -> str:
    """JSON that every parser reads, and that keeps every number: indented, or with -1 in one line."""
    import msgspec

    from stepscope.export.as_json import jsonable

    plain = jsonable(msgspec.to_builtins(value, enc_hook=_plain))
    return msgspec.json.format(msgspec.json.encode(plain), indent=indent).decode()


def _plain(value: Any) -> Any:
    """Numbers of numpy as numbers; paths and the like as they print."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else str(value)


def asked_for_json(command: click.Command | None, args: Sequence[str]) -> str | None:
    """Where a command line wants its JSON: `-` for stdout, a file, or None. Reads what click may have refused."""
    from stepscope.cli._launch import LaunchCommand, split_arguments
    from stepscope.errors import UsageError

    if command is None:
        return None
    words = list(args)
    if isinstance(command, LaunchCommand):  # words after the script's name are the script's
        try:
            words = split_arguments(command, args)[0]
        except UsageError:
            return None
    takes_file = any("--json" in option.opts and not option.is_flag for option in _options(command))
    for at, word in enumerate(words):
        if word == "--json":
            return words[at + 1] if takes_file and at + 1 < len(words) else "-"
        if takes_file and word.startswith("--json="):
            return word.partition("=")[2]
    return None


def _options(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option)]


def print_error(kind: str, message: str, exit_code: int, where: str = "-") -> None:
    """`{"error": {...}}` where the answer would have been."""
    from stepscope.diagnose.outputs.write_output import place
    from stepscope.errors import StorageError

    told = {"error": {"kind": kind, "message": message, "exit_code": exit_code}}
    try:
        place(json_text(told) + "\n", where)
    except StorageError:
        pass  # the file may be what the error is about; stderr has said it
