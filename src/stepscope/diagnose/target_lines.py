"""The line where a target, or the data beside it, was cut out of what it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.common.code_owner import is_own_file
from stepscope.common.ops import FROM_HOST, SELECTIONS

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.targets import Target
    from stepscope.records.place import Place
    from stepscope.records.step import Site

_CUTS = SELECTIONS | FROM_HOST | {"clone", "unfold", "roll"}


def target_line(run: Evidence, target: Target) -> Site | None:
    """Where the target was cut out, in the user's own code."""
    return cut_at(run, target.origin)


def _line(place: Place | None) -> tuple[str, int] | None:
    if place is None:
        return None
    site = place.site
    return site.file, site.line


def cut_at(run: Evidence, origin: Origin | None) -> Site | None:
    """The nearest line of the user's own code that cut a tensor out of another, or made it."""
    if origin is None:
        return None
    # Ops of a loader that fetches stand at the line of the loop: the dataset's own lines are what we look for.
    loops = {_line(past.place) for past in origin.ancestors(60) if past.kind == "data"}
    beyond = not loops
    for past in origin.ancestors(200):
        if past.kind == "data":
            beyond = True
        if _line(past.place) in loops:
            continue
        own = past.place is not None and is_own_file(past.place.file)
        if beyond and own and past.op in _CUTS and past.place is not None:
            return past.place.site
    return None
