"""`stepscope doctor`: check the installation and list what Stepscope touches."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stepscope.cli._options import json_option, print_json, store_option
from stepscope.cli._terminal import clean, console
from stepscope.common.units import bytes_text

if TYPE_CHECKING:
    from rich.console import Console


@click.command(name="doctor", short_help="Check the installation and list what Stepscope touches.")
@store_option
@click.option(
    "--torch", "with_torch", is_flag=True, help="Also import torch and try everything once (takes a few seconds)."
)
@click.option("--all", "with_all", is_flag=True, help="List every function that may be touched, with the reason.")
@json_option
def command(store: Path, with_torch: bool, with_all: bool, as_json: bool) -> None:
    """Check the installation, and list what Stepscope touches in a script's process.

    \b
    stepscope doctor
    stepscope doctor --torch        # install everything once, remove it, compare
    stepscope doctor --all          # every function, by group, with the reason
    """
    from stepscope.cli._doctor import examine

    found = examine(store, with_torch)
    if as_json:
        print_json(found)
    else:
        _print(found, with_all)
    if any(problem["kind"] == "problem" for problem in found["problems"]):
        sys.exit(1)


def _print(found: dict[str, Any], with_all: bool) -> None:
    out = console()
    others = (f"{name} {version}" for name, version in found["packages"].items())
    out.print(clean(f"stepscope {found['stepscope']} · Python {found['python']} · {found['platform']}"), style="bold")
    rows = {
        "packages": ", ".join(others) or "none that Stepscope supports",
        "compiled": ", ".join(f"{name}: {'yes' if is_there else 'no'}" for name, is_there in found["compiled"].items()),
        "runs": _runs(found["runs"]),
        "GPU": _cuda(found["cuda"]),
    }
    for name, text in rows.items():
        out.print(f"{name:<10}{clean(text)}")
    out.print("\nWhat Stepscope touches in a script's process, each only while something needs it:", style="bold")
    for door in found["doors"]:
        out.print(f"  {clean(door['what'])}: {', '.join(door['events'])}")
    _print_points(out, found["points"], with_all)
    _print_check(out, found["selfcheck"])
    out.print()
    for problem in found["problems"]:
        style = "bold red" if problem["kind"] == "problem" else "yellow"
        out.print(clean(f"{problem['kind']}: {problem['what']}; {problem['do']}"), style=style)
    if not found["problems"]:
        out.print("no problems found", style="green")


def _runs(runs: dict[str, Any]) -> str:
    state = "writable" if runs["is_writable"] else "NOT writable"
    free = "" if runs["free_bytes"] is None else f", {bytes_text(runs['free_bytes'])} free"
    return f"{runs['path']} ({state}{free}{'' if runs['exists'] else '; created by the first run'})"


def _cuda(cuda: dict[str, Any]) -> str:
    chosen = cuda["CUDA_VISIBLE_DEVICES"]
    limit = "" if chosen is None else f"; CUDA_VISIBLE_DEVICES={chosen!r}"
    if cuda["torch_devices"] is not None:
        return (", ".join(cuda["torch_devices"]) or "none that torch sees") + limit
    return (", ".join(cuda["driver_devices"]) or "none") + limit


def _print_points(out: Console, points: list[dict[str, str]], with_all: bool) -> None:
    out.print(f"  {len(points)} functions, by group{'' if with_all else ' (--all lists them)'}:")
    group = ""
    for point in sorted(points, key=lambda one: (one["group"], one["address"])):
        if point["group"] != group:
            group = point["group"]
            counts = Counter(one["presence"] for one in points if one["group"] == group)
            out.print(f"    {group:<12}{', '.join(f'{number} {what}' for what, number in counts.most_common())}")
        if with_all:
            lacks = "" if point["presence"] == "found" else f" ({point['presence']})"
            out.print(clean(f"      {point['address']}: {point['why']}{lacks}"))


def _print_check(out: Console, checked: dict[str, Any] | None) -> None:
    if checked is None:
        out.print("  not tried here: --torch installs everything once and removes it again", style="dim")
        return
    state = "everything was restored" if not checked["left"] else f"{len(checked['left'])} things were not restored"
    bits = "the same weights, bit for bit" if checked["same_bits"] else "OTHER weights"
    out.print(
        f"\ntried: {checked['patches']} patches, {checked['events']} events, {checked['operations']} operations; "
        f"{bits}; after removal {state}"
    )
