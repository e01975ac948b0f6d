"""`stepscope explain`: everything about one rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from stepscope.cli._json import json_option, print_json
from stepscope.cli._terminal import SEVERITY_STYLE, clean, console

if TYPE_CHECKING:
    from rich.console import Console

    from stepscope.diagnose.catalogue import RuleDoc

READING_WIDTH = 100


@click.command(name="explain", short_help="Explain a rule: what it finds, why, and the fix.")
@click.argument("rule")
@json_option
def command(rule: str, as_json: bool) -> None:
    """Explain what a rule finds, why it matters, and what to do.

    RULE is the id in a finding's brackets; `stepscope rules` lists them all.

    \b
    stepscope explain opt.no-zero-grad
    """
    from stepscope.diagnose.catalogue import rule_doc

    doc = rule_doc(rule.strip().removeprefix("error[").removeprefix("warning[").removeprefix("info[").rstrip("]:"))
    if as_json:
        print_json(doc.to_dict())
        return
    out = console()
    out.width = min(out.width, READING_WIDTH)
    _print(out, doc)


def _print(out: Console, doc: RuleDoc) -> None:
    from rich.text import Text

    from stepscope.diagnose.catalogue import asked_when

    text = doc.text
    head = (f"{doc.severity}[{clean(doc.id)}]", SEVERITY_STYLE[doc.severity])
    out.print(Text.assemble(head, "  ", (text.summary, "bold")))
    if text.about:
        out.print()
        out.print(_prose(text.about))
    for title, body in (("Why it matters", text.why), ("What to do", text.fix), ("How it is found", text.how)):
        if body:
            _heading(out, title)
            out.print(_prose(body))
    for title, code, style in (("Bad", text.bad, "bold red"), ("Good", text.good, "bold green")):
        if code:
            _heading(out, title, style)
            _code(out, code)
    _heading(out, "To silence it")
    out.print(_prose(f"on one line       `# stepscope: ignore[{doc.id}]`"))
    out.print(_prose(f"for one run       `--ignore {doc.id}`"))
    out.print(_prose(f'for the project   `ignore = ["{doc.id}"]` under `[tool.stepscope]` in pyproject.toml'))
    out.print()
    out.print(_prose(asked_when(doc)), style="dim")


def _heading(out: Console, title: str, style: str = "bold") -> None:
    out.print()
    out.print(title, style=style)


def _prose(text: str) -> object:
    """Highlight `code` in the text."""
    from rich.text import Text

    found = Text()
    for at, piece in enumerate(clean(text, keep_newlines=True).split("`")):
        found.append(piece, style="cyan" if at % 2 else "")
    return found


def _code(out: Console, code: str) -> None:
    from rich.padding import Padding
    from rich.syntax import Syntax

    code = clean(code, keep_newlines=True)
    if out.is_terminal and out.color_system:
        shown = Syntax(code, "python", theme="ansi_dark", background_color="default", word_wrap=True)
        out.print(Padding(shown, (0, 4)))
    else:
        out.print("\n".join(f"    {line}".rstrip() for line in code.splitlines()))
