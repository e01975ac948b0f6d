"""The `stepscope` command: finds the subcommands in this folder and turns errors into one clear line."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click

from stepscope import __version__
from stepscope.cli._json import asked_for_json, print_error
from stepscope.cli._terminal import clean
from stepscope.errors import StepscopeError

_START = """\
Start here:
  stepscope run train.py      run your script unchanged: track it and find what is wrong
  stepscope check train.py    try it on a few batches first
  stepscope ui                look at the runs in the browser
  stepscope demo              see all of it on small trainings"""
SECTIONS = {
    "Debug": ("run", "check", "data", "fix", "diagnose", "replay", "stacks", "rules", "explain"),
    "Inspect and profile": ("inspect", "profile", "tune-data", "tune-batch"),
    "Look at runs": ("ui", "runs", "show", "tail", "compare", "report", "export-site", "demo"),
    "Keep runs": ("import", "export", "edit", "delete", "trash", "restore", "compact", "scrub", "merge"),
    "Teams and sweeps": ("sweep", "server", "login", "sync", "mcp"),
    "Set up": ("doctor", "init-vscode", "lsp"),
}
"""Every command by purpose; `tests/cli/test_help.py` checks that none is missing."""


class Commands(click.Group):
    """The folder is the registry; a subcommand is imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        here = Path(__file__).parent
        names = (path.stem for path in here.glob("*.py") if not path.stem.startswith("_"))
        return sorted(name.replace("_", "-") for name in names if name != "main")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = import_module(f"stepscope.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{_START}\n")
        for title, names in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(title):
                formatter.write_dl([(name, one.get_short_help_str(70)) for name, one in found if one is not None])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"did you mean '{near[0]}'?" if near else "'stepscope --help' lists the commands"
            raise click.UsageError(f"there is no command '{args[0]}'; {hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="stepscope")
def commands() -> None:
    """See inside every training step: track, debug, inspect and profile PyTorch training."""


def main(args: list[str] | None = None) -> None:
    """Run the command line and exit: 0, or the exit code of the error (`stepscope/errors.py`)."""
    words = sys.argv[1:] if args is None else args
    try:
        commands(args=words, prog_name="stepscope", standalone_mode=False)
    except click.Abort:
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:  # `stepscope` alone prints the help
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail("UsageError", error.format_message(), error.exit_code, words)
    except StepscopeError as error:
        _fail(type(error).__name__, str(error), error.exit_code, words)
    except BrokenPipeError:  # `stepscope runs | head`: not an error; exit quietly as other tools do
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:  # an unreadable folder or a full disk: not an internal error
        said = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
        _fail("OSError", said, 1, words)
    except KeyboardInterrupt:
        sys.exit(130)


def _fail(kind: str, message: str, exit_code: int, words: list[str]) -> NoReturn:
    """Print the error on stderr for people, or as JSON for programs."""
    label = click.style("error:", fg="red", bold=True)
    click.echo(f"{label} {clean(message, keep_newlines=True)}", err=True)
    ctx = click.Context(commands)
    command = commands.get_command(ctx, words[0]) if words else None
    where = asked_for_json(command, words[1:])
    if where is not None:
        print_error(kind, message, exit_code, where)
    sys.exit(exit_code)
