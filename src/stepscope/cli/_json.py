"""`--json`, on every command: one document on stdout, errors included; text for people goes to stderr only.

Commands that run a script take a file (`--json FILE`), because the script prints to stdout too; with `-`, or no name,
stdout has only the document, and the script's output goes to stderr.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def json_option(function: F) -> F:
    """The `--json` option."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(function)


def print_json(value: Any) -> None:
    """Valid JSON for any number: NaN and infinities become strings."""
    click.echo(json_text(value))


def print_json_line(value: Any) -> None:
    """Print one object of a stream as a line and flush it."""
    click.echo(json_text(value, indent=-1))


def json_text(value: Any, indent: int = 2) -> str:
    """JSON that every parser reads without losing a number: indented, or on one line with -1."""
    import msgspec

    from stepscope.export.as_json import jsonable

    plain = jsonable(msgspec.to_builtins(value, enc_hook=_plain))
    return msgspec.json.format(msgspec.json.encode(plain), indent=indent).decode()


def _plain(value: Any) -> Any:
    """Convert numpy numbers to numbers, and anything else to its string."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else str(value)


def asked_for_json(command: click.Command | None, args: Sequence[str]) -> str | None:
    """Where the command line wants its JSON: `-` for stdout, a file, or None. Also reads what click rejected."""
    from stepscope.cli._launch import LaunchCommand, split_arguments
    from stepscope.errors import UsageError

    if command is None:
        return None
    words = list(args)
    if isinstance(command, LaunchCommand):  # words after the script's name belong to the script
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
    """Print `{"error": {...}}` in place of the result."""
    from stepscope.diagnose.outputs.write_output import place
    from stepscope.errors import StorageError

    told = {"error": {"kind": kind, "message": message, "exit_code": exit_code}}
    try:
        place(json_text(told) + "\n", where)
    except StorageError:
        pass  # this file may be the cause of the error, which is already on stderr
