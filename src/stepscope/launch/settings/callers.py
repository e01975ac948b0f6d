"""Who asked a library to parse something: the script, or another library for its own options."""

from __future__ import annotations

from types import FrameType

from stepscope.common.code_owner import is_own_file
from stepscope.events.patches import is_ours

_ALWAYS = frozenset({"contextlib", "functools"})


def is_asked_by_script(frame: FrameType | None, through: frozenset[str]) -> bool:
    """Whether the script's own code made a call, directly or through these packages, which parse on its behalf."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if not is_ours(frame) and module.partition(".")[0] not in through | _ALWAYS:
            return module == "__main__" or is_own_file(frame.f_code.co_filename)
        frame = frame.f_back
    return False
