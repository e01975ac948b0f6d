"""Where a run's rows and media go: the writer, with media encoded on a separate thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from stepscope.common import clocks
from stepscope.errors import StepscopeError
from stepscope.records import Dropped
from stepscope.runs.write.writer import Keyset, RunWriter
from stepscope.track.background import Worker
from stepscope.track.messages import say_once
from stepscope.track.secrets import mask_text


class RunSink:
    """Passes rows to the writer and media to a worker that encodes them, and counts rejected values."""

    def __init__(self, writer: RunWriter) -> None:
        self._writer = writer
        self._worker = Worker("encoding media")
        self._again: dict[tuple[str, str], tuple[int, str]] = {}
        self._places: dict[str, int] = {}
        self._lock = threading.Lock()

    def keyset(self, names: tuple[str, ...]) -> Keyset:
        return self._writer.keyset(names)

    def wide(self, step: int, values: Mapping[str, Any], at: float | None) -> None:
        self._writer.wide(step, values, at)

    def media(self, values: Mapping[str, Any], step: int, when: float) -> None:
        """Accept a non-number: copied now, encoded and written shortly after."""
        from stepscope.track.media import to_media

        for name, value in values.items():
            is_text = isinstance(value, str)
            try:
                made = to_media(mask_text(value) if is_text else value)
            except StepscopeError as reason:
                self.refused(name, type(value).__name__, str(reason))
                continue
            if made is None:
                self.refused(name, type(value).__name__, _advice(value))
                continue
            place = self._places.setdefault(name, len(self._places) + 1)
            write = partial(self._write_media, made.encode, name, step, when, place)
            if is_text:
                write()
            else:
                self._worker.do(write)

    def _write_media(self, encode: Callable[..., Any], name: str, step: int, when: float, place: int) -> None:
        try:
            encoded = encode(name, step, when)
        except StepscopeError as reason:
            self.refused(name, "media", str(reason))
            return
        for record, data in encoded:
            self._writer.media(msgspec.structs.replace(record, place=place), data)

    def refused(self, name: str, kind: str, reason: str) -> None:
        """Report and record once that values like this one are not logged; count the others."""
        with self._lock:
            before = self._again.get((name, kind))
            self._again[name, kind] = (0 if before is None else before[0] + 1, reason)
        if before is None:
            shown = name if len(name) <= 80 else name[:77] + "..."
            text = mask_text(f"'{shown}' ({kind}) was not logged: {reason}")
            say_once(("refused", name, kind), text)
            self.lost(1, text)

    def lost(self, count: int, reason: str) -> None:
        self._writer.event(Dropped(time=clocks.time(), count=count, reason=reason))

    def flush(self) -> None:
        """Write all media, and the rejections that were only counted so far."""
        if not self._worker.flush():
            self.lost(1, "media took over a minute to encode and were dropped")
        self._tell_again()

    def _tell_again(self) -> None:
        with self._lock:
            counts = {key: each for key, each in self._again.items() if each[0]}
            self._again.update({key: (0, reason) for key, (_count, reason) in counts.items()})
        for (name, kind), (count, reason) in counts.items():
            self.lost(count, mask_text(f"'{name[:80]}' ({kind}) was not logged again: {reason}"))

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._worker.close()

    def after_fork(self) -> None:
        self._worker = Worker("encoding media")
        self._lock = threading.Lock()
        self._again = {}


def _advice(value: Any) -> str:
    """What to do about a value that is neither a number nor media."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return (
            f"it has shape {tuple(shape)}; log one number (.mean(), .item()), or stepscope.Histogram / stepscope.Image"
        )
    if isinstance(value, list | tuple | set):
        return f"it has {len(value)} values; log them under separate names, or as stepscope.Histogram"
    return "only numbers, text and media can be logged; see docs/logging.md for the kinds"
