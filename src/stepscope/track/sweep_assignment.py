"""What a sweep assigns to the next run: its group, tags and parameters.

A sweep that starts processes passes it in `STEPSCOPE_ASSIGNED`; one that calls a function in this process calls
`assign`. Either way the script calls `stepscope.init()` as usual, and the sweep learns which folder it got.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from stepscope import fence
from stepscope.track.messages import say_once

if TYPE_CHECKING:
    from stepscope.track.run import Run

VARIABLE = "STEPSCOPE_ASSIGNED"


class Assigned(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's place in a sweep."""

    group: str | None = None
    """Overrides the script's own, so that the runs of one sweep stay together."""
    project: str | None = None
    name: str | None = None
    """Used if the script gives none, like the project."""
    tags: list[str] = []
    config: dict[str, Any] = {}
    """Overrides what the script passes to `init`: a script may take its parameters from `run.config` alone."""
    goals: dict[str, Literal["min", "max"]] = {}
    """Metrics with a goal of min or max."""
    note: str | None = None
    """A file to which the folder of each opened run is appended, one per line."""


_assigned: Assigned | None = None
_decoder = msgspec.json.Decoder(Assigned)
_offered: str | None = None


def assign(what: Assigned | None) -> None:
    """Assign this to the next runs of this process; None to stop."""
    global _assigned
    _assigned = what


def assigned(environ: Mapping[str, str] = os.environ) -> Assigned | None:
    """The assignment for this process's runs, if any."""
    if _assigned is not None:
        return _assigned
    text = environ.get(VARIABLE)
    if not text:
        return None
    try:
        return _decoder.decode(os.fsencode(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as fault:
        say_once(VARIABLE, f"{VARIABLE} cannot be read ({fault}); the run is recorded without it")
        return None


def offer_name(name: str | None) -> None:
    """A name for the next run that neither the script nor a sweep names: `stepscope run --name`."""
    global _offered
    _offered = name


def offered_name() -> str | None:
    """The offered name, once: a second run of the script is another run."""
    global _offered
    name, _offered = _offered, None
    return name


@fence.fenced("telling the sweep of the run")
def tell_of(run: Run) -> None:
    """A run was opened: set what is still missing, and record its folder where its sweep looks for it."""
    what = assigned()
    if what is None:
        return
    for name, goal in what.goals.items():
        run.define(name, goal=goal)
    path = run.path
    if what.note is None or path is None:
        return
    # One short write in append mode: all processes of one trial may do this.
    fd = os.open(what.note, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(fd, os.fsencode(path) + b"\n")
    finally:
        os.close(fd)
