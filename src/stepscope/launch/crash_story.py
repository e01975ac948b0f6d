"""The failing operation, the way through the layers and each frame's tensors: the text above a traceback."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.track import ranks

if TYPE_CHECKING:
    from collections.abc import Callable

    from stepscope.diagnose.crash.crash import Crash
    from stepscope.diagnose.evidence import Evidence


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


def tell_story(evidence: Evidence, explained: bool, say: Callable[[str], None]) -> None:
    """Say what there is to say of the crash that ended the script."""
    story = story_of(evidence.crash, explained)
    if story:
        say(story)
