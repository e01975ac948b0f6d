"""What somebody else has decided about the next run: a sweep gives each run its group, tags and parameters.

A sweep that starts processes hands it over in `STEPSCOPE_ASSIGNED`; one that calls a function in this process calls
`assign`. Either way the script says `stepscope.init()` as ever, and the sweep hears which folder it got.
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

__all__ = ["VARIABLE", "Assigned", "assign", "assigned", "offer_name", "offered_name", "tell_of"]

VARIABLE = "STEPSCOPE_ASSIGNED"


class Assigned(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run's place in a sweep."""

    group: str | None = None
    """Wins over the script's own, so that the runs of one sweep stay together."""
    project: str | None = None
    name: str | None = None
    """Used where the script gives none; so is the project."""
    tags: list[str] = []
    config: dict[str, Any] = {}
    """Wins over what the script gives to `init`: a script may take its parameters from `run.config` alone."""
    goals: dict[str, Literal["min", "max"]] = {}
    """Metrics of which small or large is good."""
    note: str | None = None
    """A file to which the folder of each run that is opened is added, a line each."""


_assigned: Assigned | None = None
_decoder = msgspec.json.Decoder(Assigned)
_offered: str | None = None


def assign(what: Assigned | None) -> None:
    """Have the next runs of this process take this; None to end it."""
    global _assigned
    _assigned = what


def assigned(environ: Mapping[str, str] = os.environ) -> Assigned | None:
    """What this process's runs are to take, if anything."""
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
    """Name the next run to which neither the script nor a sweep gives a name: `stepscope run --name`."""
    global _offered
    _offered = name


def offered_name() -> str | None:
    """The offered name, once: a second run of the script is another run."""
    global _offered
    name, _offered = _offered, None
    return name


@fence.fenced("telling the sweep of the run")
def tell_of(run: Run) -> None:
    """A run was opened: give it what it has yet to get, and leave its folder where its sweep looks for it."""
    what = assigned()
    if what is None:
        return
    for name, goal in what.goals.items():
        run.define(name, goal=goal)
    path = run.path
    if what.note is None or path is None:
        return
    # One short write in append mode: the processes of one trial may all do this.
    fd = os.open(what.note, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(fd, os.fsencode(path) + b"\n")
    finally:
        os.close(fd)
