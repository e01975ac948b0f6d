"""A script's output, stored by another tool write by write, as lines with their times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from stepscope.records import Console
from stepscope.track.console import last_form
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

Stream = Literal["stdout", "stderr"]
_LONGEST = 64 << 10


class Printed:
    """Joins writes to lines; for a progress bar the last version is kept."""

    def __init__(self) -> None:
        self._open: dict[Stream, str] = {}

    def write(self, stream: Stream, text: str, time: float, step: int | None) -> Iterator[Console]:
        *lines, rest = (self._open.get(stream, "") + text).split("\n")
        if len(rest) > _LONGEST:
            lines, rest = [*lines, rest], ""
        self._open[stream] = rest if "\r" not in rest else last_form(rest)
        if lines:
            whole = "".join(last_form(line) + "\n" for line in lines)
            yield Console(time=time, stream=stream, text=mask_text(as_name(whole)), step=step)

    def close(self, time: float, step: int | None) -> Iterator[Console]:
        """The last, unterminated line."""
        for stream, line in self._open.items():
            if line:
                yield Console(time=time, stream=stream, text=mask_text(as_name(last_form(line))) + "\n", step=step)
        self._open.clear()
