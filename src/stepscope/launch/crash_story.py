"""The failing operation, the way through the layers and each frame's tensors: the text above a traceback."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.diagnose.show import place_of
from stepscope.track import ranks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stepscope.diagnose.crash.crash import Crash
    from stepscope.diagnose.engine import Engine
    from stepscope.diagnose.evidence import Evidence
    from stepscope.records import Finding


def story_of(crash: Crash | None, explained: bool = False) -> str:
    """What there is to say of a crash, for the terminal; of one rank among several it names the rank.

    Where a finding explains it, the tensors of every frame are left out.
    """
    from stepscope.diagnose.crash.explain import explain
    from stepscope.diagnose.show import terminal_width, wants_color

    told = None if crash is None else explain(crash)
    if told is not None and explained:
        told = replace(told, frames=[])
    if told is None or told.is_empty:
        return ""
    text = told.text(color=wants_color(sys.stderr), width=terminal_width(sys.stderr))
    place = ranks.place()
    return f"rank {place.rank} of {place.world_size} failed\n{text}" if place.world_size > 1 else text


def explained_before(engine: Engine, found: Sequence[Finding]) -> str:
    """A pointer back to the finding, printed while the script ran, that this crash follows from."""
    from stepscope.diagnose.rule import all_rules, explains

    patterns = all_rules()["crash.raised"].follows
    earlier = [one for one in engine.findings if one.severity == "error" and one not in found]
    cause = next((one for one in earlier if any(explains(one.rule, pattern) for pattern in patterns)), None)
    if cause is None or engine.evidence.crash is None:
        return ""
    place = place_of(cause.file, cause.line, Path.cwd()) if cause.file else "this run"
    return f"the crash follows from error[{cause.rule}] above: {cause.message} ({place})" + (
        f"\n  = fix: {cause.fix}" if cause.fix else ""
    )


def tell_story(evidence: Evidence, explained: bool, say: Callable[[str], None]) -> None:
    """Say what there is to say of the crash that ended the script."""
    story = story_of(evidence.crash, explained)
    if story:
        say(story)
