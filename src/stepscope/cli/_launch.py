"""What `stepscope run` and `stepscope check` share: their options, and where these end and the script's begin."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stepscope.common.units import listed
from stepscope.errors import UsageError
from stepscope.files.opening import read_text

if TYPE_CHECKING:
    from stepscope.launch.options import Options
    from stepscope.launch.script import Script

F = TypeVar("F", bound=Callable[..., Any])

OURS = "stepscope.ours"
"""In `ctx.meta`: Stepscope's part of the command line, as typed."""
_MAY_STAND_ALONE = {"--fast-dev-run": "1", "--debugpy": "5678"}
_MOST_SOURCE = 4 << 20
_FILE_OR_STDOUT = {"--json", "--sarif"}
"""Without a value, or before an obvious script, these mean stdout, so that train.py is not overwritten."""


class LaunchCommand(click.Command):
    """`[OPTIONS] train.py ARGS...`: what follows the script's name, or `-m pkg.train`, belongs to the script."""

    takes_options_behind = False
    """Stepscope options after the target are accepted unless the script might use them: `fix train.py --apply`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ours, target, theirs = split_arguments(self, args)
        if self.takes_options_behind:
            behind, theirs = _options_behind(self, target, theirs)
            ours += behind
        ctx.obj = (target, theirs)
        ctx.meta[OURS] = list(ours)  # click consumes what it parses
        after = misplaced(self, target, theirs)
        if after and target is not None:
            few = len(after) == 1
            click.echo(
                f"stepscope: the script gets {listed(after)}; if {'it was' if few else 'they were'} meant for "
                f"stepscope {ctx.info_name}, put {'it' if few else 'them'} before {target[1]}",
                err=True,
            )
        return super().parse_args(ctx, ours)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "(SCRIPT | -m MODULE) [ARGS]..."]


report_json_option = click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    metavar="[FILE]",
    help="Print the report as JSON, for programs.",
)

Target = tuple[str, str] | None
"""("file", "train.py"), ("module", "pkg.train"), or nothing given."""


def _module_name(rest: list[str]) -> str:
    if not rest:
        raise UsageError("-m needs the name of a module: stepscope run -m pkg.train")
    return rest[0]


def split_arguments(command: click.Command, args: Sequence[str]) -> tuple[list[str], Target, list[str]]:
    """Stepscope's options, what to run, and the script's own arguments."""
    takes_value = _options_with_value(command)
    ours: list[str] = []
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "-m":
            return ours, ("module", _module_name(rest)), rest[1:]
        if word == "--" and rest:
            return ours, ("file", rest[0]), rest[1:]
        if not word.startswith("-") or word == "-":
            return ours, ("file", word), rest
        if word in _MAY_STAND_ALONE and not (rest and rest[0].isdecimal()):
            word = f"{word}={_MAY_STAND_ALONE[word]}"
        if word in _FILE_OR_STDOUT & takes_value and _names_no_file(rest):
            word = f"{word}=-"
        ours.append(word)
        if word in takes_value and rest:
            ours.append(rest.pop(0))
    return ours, None, []


def _options_with_value(command: click.Command) -> set[str]:
    options = [option for option in command.params if isinstance(option, click.Option)]
    return {name for option in options if not option.is_flag and not option.count for name in option.opts}


def misplaced(command: click.Command, target: Target, theirs: Sequence[str]) -> list[str]:
    """Stepscope options among the script's arguments that the script's text never mentions."""
    names = {name for option in command.params if isinstance(option, click.Option) for name in option.opts}
    words = [word for word in dict.fromkeys(theirs) if word.startswith("--") and word in names]
    if not words or target is None or target[0] != "file" or "--quiet" in theirs:
        return []
    try:
        text = read_text(target[1], _MOST_SOURCE).replace("-", "_")
    except OSError:
        return []  # reported where the script is looked up
    return [word for word in words if not re.search(rf"\b_*{word.strip('-').replace('-', '_')}\b(?!\()", text)]


def _options_behind(command: click.Command, target: Target, theirs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the words after a script or run into Stepscope's options and the rest."""
    options = {name: one for one in command.params if isinstance(one, click.Option) for name in one.opts}
    is_run = target is not None and target[0] == "file" and not Path(target[1]).is_file()
    wanted = set(options) if is_run else set(misplaced(command, target, theirs))
    ours: list[str] = []
    others: list[str] = []
    rest = list(theirs)
    while rest:
        word = rest.pop(0)
        option = options.get(word) if word in wanted else None
        (others if option is None else ours).append(word)
        if option is not None and not option.is_flag and rest:
            ours.append(rest.pop(0))
    return ours, others


def _names_no_file(rest: Sequence[str]) -> bool:
    return not rest or rest[0].endswith(".py") or (rest[0].startswith("-") and rest[0] != "-")


def stdout_where_no_file(args: Sequence[str]) -> list[str]:
    """`--json` without a file, for command lines without a script."""
    return [
        f"{word}=-" if word in _FILE_OR_STDOUT and _names_no_file(args[at + 1 : at + 2]) else word
        for at, word in enumerate(args)
    ]


def script_named(ctx: click.Context) -> Script:
    """The script named on the command line."""
    from stepscope.launch.script import find_module, find_script

    target, theirs = ctx.obj
    if target is None:
        raise UsageError(f"no script was given; try: stepscope {ctx.info_name} train.py --its --own options")
    kind, name = target
    return find_script(name, theirs) if kind == "file" else find_module(name, theirs)


def finding_options(function: F) -> F:
    """Options that select findings and where they are written."""
    for option in reversed((
        click.option("--select", multiple=True, metavar="RULE", help="Run only these rules or groups (opt, loss.*)."),
        click.option("--ignore", multiple=True, metavar="RULE", help="Skip these rules or groups."),
        click.option("--json", "json", type=click.Path(path_type=Path), metavar="[FILE]", help="Findings as JSON."),
        click.option("--sarif", type=click.Path(path_type=Path), metavar="[FILE]",
                     help="Findings for code scanning."),
        click.option("--output", type=click.Choice(["full", "lines"]), default="full",
                     help="How findings are shown: with their source, or one line each for an editor."),
        click.option("--strict", is_flag=True, help="Exit with 1 on any warning or error."),
        click.option("--quiet", "-q", is_flag=True, help="Print only findings, without a status line or notices."),
        click.option("--debugpy", type=int, metavar="[PORT]", help="Wait for an editor's debugger (port 5678)."),
        click.option("--pdb", is_flag=True, help="After a crash, open a debugger in the script's own frame."),
    )):  # fmt: skip
        function = option(function)
    return function


def switch_options(function: F) -> F:
    """Options that make faults easier to find."""
    for option in reversed((
        click.option("--deterministic", is_flag=True, help="Use deterministic algorithms; set missing seeds."),
        click.option("--eager", is_flag=True, help="Turn torch.compile into a no-op."),
        click.option("--no-workers", is_flag=True, help="Load data in the main process, for debugging."),
        click.option("--detect-nan", is_flag=True, help="Check every value and name the op that first produces a NaN."),
    )):  # fmt: skip
        function = option(function)
    return function


def limit_options(function: F) -> F:
    """Options that limit how much of the training runs."""
    for option in reversed((
        click.option("--fast-dev-run", type=click.IntRange(1), metavar="[N]",
                     help="Run N batches (1) of each loader and the last one, for one epoch, and save nothing."),
        click.option("--limit-train-batches", metavar="N|SHARE", help="Number of batches (20) or fraction (0.1, 10%)."),
        click.option("--limit-val-batches", metavar="N|SHARE", help="The same for validation."),
        click.option("--limit-test-batches", metavar="N|SHARE", help="The same for testing."),
        click.option("--max-steps", type=click.IntRange(1), help="Stop after this many optimizer steps."),
        click.option("--max-epochs", type=click.IntRange(1), help="Stop after this many epochs."),
        click.option("--overfit-batches", type=click.IntRange(1), metavar="N",
                     help="Train on the same N batches, to see whether the model can overfit them."),
    )):  # fmt: skip
        function = option(function)
    return function


def options_from(values: dict[str, Any], *, check: bool = False) -> Options:
    """The options record, from click's parsed values."""
    from stepscope.launch.options import Amount, Limits, Options, Switches

    amounts: dict[str, Any] = {
        f"{role}_batches": Amount.parse(text, f"--limit-{role}-batches")
        for role in ("train", "val", "test")
        if (text := values.pop(f"limit_{role}_batches", None)) is not None
    }
    names = ("fast_dev_run", "max_steps", "max_epochs", "overfit_batches")
    counts: dict[str, Any] = {name: values.pop(name, None) for name in names}
    limits = Limits(**counts, **amounts)
    if str(values.get("json")) == str(values.get("sarif")) == "-":
        raise UsageError("--json and --sarif cannot both go to the standard output; give one of them a file")
    for name in ("json", "sarif"):  # the script may change the working directory
        if values.get(name) is not None and str(values[name]) != "-":
            values[name] = values[name].absolute()
    switches = ("deterministic", "eager", "no_workers", "detect_nan")
    chosen = Switches(**{name: values.pop(name, False) for name in switches})
    return Options(limits=limits, switches=chosen, check=check, **values)
