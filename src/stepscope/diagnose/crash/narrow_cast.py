"""Numbers that came out negative because they were put into a type that is too small for them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.diagnose.array_provenance import story_at
from stepscope.diagnose.crash.provenance import story
from stepscope.diagnose.crash.turning_point import own_site
from stepscope.diagnose.rule import Proof
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.frame_values import HeldTensor

_HOLDS = {"int8": 127, "int16": 32767}
_CAST = re.compile(
    r"\b(?:astype|to|type|array|asarray|tensor|full|zeros|empty|fromiter)\(.*\b(int8|int16)\b|\.(char|short)\("
)
_NAMES = {"char": "int8", "short": "int16"}


@dataclass(frozen=True)
class Narrow:
    """A cast to a signed type whose largest number is below the largest id."""

    site: Site
    dtype: str


def narrow_cast(run: Evidence, crash: Crash, tensor: HeldTensor, size: int) -> Narrow | None:
    """The cast that turned large ids into negative ones: one of `size` different ids does not fit."""
    for dtype, most in _HOLDS.items():
        if size - 1 > most:
            site = _on_the_trail(run, tensor, dtype) or _in_the_source(crash, tensor, dtype)
            if site is not None:
                return Narrow(site, dtype)
    return None


def _on_the_trail(run: Evidence, tensor: HeldTensor, dtype: str) -> Site | None:
    """The op that made it so narrow; of an array that was narrow before, the statement in its past that did it."""
    past = () if tensor.origin is None else tensor.origin.ancestors(200)
    narrow = [origin for origin in past if origin.dtype == dtype and own_site(origin) is not None]
    if not narrow:
        return None
    first = narrow[-1]
    statements = [one for one in story_at(run, first.place) if _casts(run, one, dtype)]
    return statements[0] if statements else own_site(first)


def _casts(run: Evidence, site: Site, dtype: str) -> bool:
    node = run.source.expression(site)
    return node is not None and _is_cast(ast.unparse(node), dtype)


def _is_cast(text: str, dtype: str) -> bool:
    found = _CAST.search(text)
    return found is not None and _NAMES.get(found[2] or "", found[1]) == dtype


def _in_the_source(crash: Crash, tensor: HeldTensor, dtype: str) -> Site | None:
    steps = [step for step in story(crash, tensor) if step.site is not None and _is_cast(step.text, dtype)]
    return steps[0].site if steps else None


def narrowed(crash: Crash, narrow: Narrow, what: str, size: int, low: int) -> Proof:
    most = _HOLDS[narrow.dtype]
    return Proof(
        where=narrow.site,
        message=f"{narrow.dtype} holds numbers up to {most}, so {what} above that came out negative, down to {low}",
        label=f"{size} different {what} do not fit",
        evidence={"dtype": narrow.dtype, "largest": most, "smallest_found": low, "needed": size - 1},
        fix=f"keep the {what} in int64 instead of {narrow.dtype}; uint8 is enough up to 255"
        if size <= 256
        else f"keep the {what} in int64 instead of {narrow.dtype}",
        related=[(crash.site, "it fails here")],
    )
