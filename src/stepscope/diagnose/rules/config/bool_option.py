from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.option_lines import option_line
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.options import Options


@rule("config.bool-option", severity="warning")
def bool_option(run: Evidence) -> Iterator[Proof]:
    """An option with `type=bool` was given `False` and came out as True.

    Why it matters: argparse calls `bool("False")`, and every string that is not empty is True. The switch cannot be
    turned off, and the run is not the intended one.

    What to do: use `action=argparse.BooleanOptionalAction` (`--freeze`, `--no-freeze`), or `action="store_true"`.

    How it is found: the command line of this run gave such an option a word that says no (`False`, `0`, `no`, `off`),
    and its value is True.

    Bad:
        parser.add_argument("--freeze", type=bool, default=True)
    Good:
        parser.add_argument("--freeze", action=argparse.BooleanOptionalAction, default=True)
    """
    options = run[Options]
    for option in options.all:
        if not option.turns_off:
            continue
        flag = option.flags[-1]
        yield Proof(
            where=option_line(run, option) or options.parsed,
            message=f"`{flag} {option.turns_off}` gives True: type=bool turns every non-empty string into True",
            label=f'bool("{option.turns_off}") is True',
            evidence={"option": flag, "given": option.turns_off, "value": True},
            fix="use action=argparse.BooleanOptionalAction",
        )
