"""A traceback for a person at a terminal: the frames of their own code, the library's counted."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator

from stepscope.common.code_owner import is_own_file
from stepscope.common.units import counted

_FRAME = re.compile(r'^  File "(?P<file>.+)", line \d+, in .+\n(?:    .*\n)*', re.M)
"""A frame in the text of an exception: an exception of a DataLoader worker carries its traceback as its message."""


def shortened(error: BaseException) -> str:
    """What Python would print, without the frames of libraries; "" where there is nothing to leave out."""
    told = traceback.TracebackException.from_exception(error)
    left_out = sum(_leave_out(one) + _leave_out_of_text(one) for one in list(_chain(told)))
    if not left_out:
        return ""
    frames = counted(left_out, "frame")
    return f"{''.join(told.format())}({frames} of libraries left out; `stepscope show` prints all)\n"


def _chain(told: traceback.TracebackException | None) -> Iterator[traceback.TracebackException]:
    """An exception, and those that it was raised from or in."""
    while told is not None:
        yield told
        yield from getattr(told, "exceptions", None) or ()
        told = told.__cause__ or told.__context__


def _leave_out(told: traceback.TracebackException) -> int:
    """Take the library's frames out, and give their number; none where no frame is the user's."""
    every = list(told.stack)
    own = [frame for frame in every if is_own_file(frame.filename)]
    if own:
        told.stack = traceback.StackSummary.from_list(own)
    return len(every) - len(own) if own else 0


def _leave_out_of_text(told: traceback.TracebackException) -> int:
    """The same for a traceback inside the message, where the main process repeats what a worker said."""
    said = getattr(told, "_str", "")
    if not isinstance(said, str) or "Original Traceback" not in said:
        return 0
    library = [found for found in _FRAME.finditer(said) if not is_own_file(found["file"])]
    for found in reversed(library):
        said = said[: found.start()] + said[found.end() :]
    told._str = said  # type: ignore[attr-defined]
    return len(library)
