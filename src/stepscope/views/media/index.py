"""The list of the *Media* page: each non-numeric key that the runs logged, with its steps."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import numpy as np

from stepscope.errors import NotFound, UsageError
from stepscope.records import Media
from stepscope.views.charts import PanelInfo
from stepscope.views.context import Context
from stepscope.views.panel_order import in_order
from stepscope.views.route import route

MAX_RUNS = 200
MAX_KEYS = 2000
MAX_STEPS = 2000
MAX_NUMBERS = 200_000
"""Maximum number of steps in one response, over all keys: about a megabyte uncompressed."""
ELSEWHERE = {"histogram", "step"}
"""Kinds with their own page: *Distributions* and *Model*."""


class MediaIndexRequest(msgspec.Struct):
    runs: list[str]


class MediaKey(msgspec.Struct):
    """One key under which at least one of the runs logged this kind."""

    key: str
    kind: str
    runs: list[str]
    """Runs that have it, in the order requested."""
    steps: list[int]
    """The steps at which any of them has it; if there are very many, evenly spaced ones including first and last."""
    most: int
    """Maximum number of items at one step: a list of images has several."""
    newest: float
    """When the newest was logged; also increases when a step is logged again."""


class MediaIndex(msgspec.Struct):
    keys: list[MediaKey]
    """In display order."""
    omitted: int = 0
    """Number of keys beyond the page's limit."""


@dataclass
class _Found:
    runs: list[str] = field(default_factory=list)
    steps: set[int] = field(default_factory=set)
    most: int = 1
    newest: float = 0.0


@route("POST", "/api/media/index")
def media_index(ctx: Context, request: MediaIndexRequest) -> MediaIndex:
    """Which keys the runs have, and at which steps, so that one slider can stop at each of them."""
    if len(request.runs) > MAX_RUNS:
        raise UsageError(f"at most {MAX_RUNS} runs at once, not {len(request.runs)}; choose fewer")
    found: dict[tuple[str, str], _Found] = {}
    for run in dict.fromkeys(request.runs):
        try:
            folder = ctx.runs.get(run)
        except NotFound:  # deleted since the page was opened
            continue
        for key, kind in folder.media_keys().items():
            if kind not in ELSEWHERE:
                _add(found.setdefault((key, kind), _Found()), run, folder.media(key))
    ordered = [(panel.key, panel.kind) for panel in in_order([_panel(*name) for name in found], set(), set())]
    shown = ordered[:MAX_KEYS]
    room = max(2, min(MAX_STEPS, MAX_NUMBERS // max(1, len(shown))))
    keys = [_key(name, found[name], room) for name in shown]
    return MediaIndex(keys=keys, omitted=len(ordered) - len(shown))


def _add(known: _Found, run: str, items: list[Media]) -> None:
    known.runs.append(run)
    known.steps.update(one.step for one in items)
    known.most = max(known.most, max((one.count for one in items), default=1))
    known.newest = max(known.newest, max((one.time for one in items), default=0.0))


def _panel(key: str, kind: str) -> PanelInfo:
    return PanelInfo(key=key, kind=kind, section=key.partition("/")[0] if "/" in key else "", runs=0)


def _key(name: tuple[str, str], known: _Found, room: int) -> MediaKey:
    key, kind = name
    steps = thinned(sorted(known.steps), room)
    return MediaKey(key=key, kind=kind, runs=known.runs, steps=steps, most=known.most, newest=known.newest)


def thinned(steps: list[int], room: int) -> list[int]:
    """At most `room` of the steps, evenly spaced, including both ends.

    >>> thinned([0, 10, 20, 30, 40], 3)
    [0, 20, 40]
    """
    if len(steps) <= room:
        return steps
    return [steps[at] for at in np.linspace(0, len(steps) - 1, room).astype(int).tolist()]
