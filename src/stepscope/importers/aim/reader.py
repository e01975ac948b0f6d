"""The process that reads with Aim, and its answers converted to pieces."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from stepscope.errors import BadData, StepscopeError
from stepscope.files.decoding import MALFORMED
from stepscope.importers.aim.mirror import mirrored
from stepscope.importers.aim.names import series_name
from stepscope.importers.foreign import Columns, Piece, Thing
from stepscope.importers.printed import Printed
from stepscope.importers.things import plotly_thing, things_of
from stepscope.records import Alert, Media
from stepscope.runs.format.image_head import image_size, mime_of
from stepscope.track.media import Histogram, Text
from stepscope.track.media.bins import wide_bins
from stepscope.track.media.loggable import captioned
from stepscope.track.names import as_name
from stepscope.track.secrets import mask_text

_LARGEST = 1 << 30
_STRANGE = (ValueError, TypeError, LookupError, AttributeError, OverflowError)
"""Exceptions that an unexpected message can raise."""
_decode = msgspec.msgpack.Decoder().decode


class Reader:
    """One polling session of an Aim folder."""

    def __init__(self, folder: Path) -> None:
        self._place = tempfile.TemporaryDirectory(prefix="stepscope-aim-")
        mirrored(folder / ".aim", Path(self._place.name) / ".aim")
        line = [sys.executable, "-m", "stepscope.importers.aim.worker", self._place.name]
        self._process = subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self._place.name
        )
        self.lost: list[str] = []

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.kill()
        self._process.wait()
        self._place.cleanup()

    def runs(self) -> list[dict[str, Any]]:
        return [message for message in self._ask({"do": "list"}) if message["is"] == "run"]

    def pieces(self, run: str, since: dict[str, float]) -> Iterator[Piece]:
        """What is newer in a run than the times in `since`, which are advanced."""
        printed = Printed()
        last = 0.0
        for message in self._ask({"do": "read", "run": run, "since": dict(since)}):
            since[message["key"]] = max(since.get(message["key"], 0.0), message["last"])
            last = max(last, message["last"])
            if message["is"] == "trouble":
                self.lost.append(f"'{message['name']}' of run {run}: {message['text']}")
                continue
            if message["is"] == "line":
                text = message["text"].rstrip("\n") + "\n"
                yield from printed.write("stdout", text, message["time"], None)
                continue
            try:
                yield from _pieces(message)
            except StepscopeError as fault:
                self.lost.append(f"'{message['name']}' of run {run}: {fault}")
            except _STRANGE as fault:
                self.lost.append(f"'{message['name']}' of run {run} cannot be read: {fault}")
        yield from printed.close(last, None)

    def _ask(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        out, into = self._process.stdout, self._process.stdin
        assert out is not None
        assert into is not None
        try:
            into.write(json.dumps(request).encode() + b"\n")
            into.flush()
        except BrokenPipeError:
            raise self._ended() from None
        while True:
            head = out.read(4)
            size = struct.unpack("<I", head)[0] if len(head) == 4 else _LARGEST + 1
            data = out.read(size) if size <= _LARGEST else b""
            if len(data) < size:
                raise self._ended()
            message = _message(data)
            if message["is"] == "end":
                return
            if "key" not in message and message["is"] in ("trouble", "fault"):
                self.lost.append(message["text"])
            else:
                yield message

    def _ended(self) -> BadData:
        self._process.kill()
        said = self._process.stderr.read().decode("utf-8", "replace") if self._process.stderr is not None else ""
        last = said.strip().splitlines()[-1:] or ["it printed nothing"]
        return BadData(f"Aim could not read the folder: {last[0]}")


def _message(data: bytes) -> dict[str, Any]:
    try:
        message = _decode(data)
    except MALFORMED as fault:
        raise BadData(f"an answer from Aim cannot be read: {fault}") from None
    if not isinstance(message, dict) or "is" not in message:
        raise BadData("an answer from Aim is not a message")
    return message


def _pieces(message: dict[str, Any]) -> Iterator[Piece]:
    name, kind = series_name(message["name"], message["context"]), message["is"]
    if kind == "numbers":
        steps = np.array(message["steps"], dtype=np.int64)
        order = np.argsort(np.array(message["times"]), kind="stable")
        values = np.array(message["values"], dtype=np.float64)
        yield Columns(name, steps[order], np.array(message["times"], dtype=np.float64)[order], values[order])
        return
    step, time = message["step"], message["time"]
    if kind == "record":
        level = message["level"]
        said = "error" if level >= 40 else "warning" if level >= 30 else "info"
        yield Alert(time=time, title=mask_text(message["text"])[:200], level=said, step=step)  # type: ignore[arg-type]
        return
    for thing in _things(kind, name, message, step, time):
        media = msgspec.structs.replace(thing.media, index=message["index"], count=message["count"])
        yield Thing(media, thing.data)


def _things(kind: str, name: str, message: dict[str, Any], step: int, time: float) -> list[Thing]:
    if kind == "text":
        return things_of(Text(message["text"]), name, step, time)
    if kind == "figure":
        return [plotly_thing(json.loads(message["text"]), name, step, time)]
    if kind == "distribution":
        counts = message["counts"]
        edges, counts = wide_bins(np.linspace(message["low"], message["high"], len(counts) + 1).tolist(), counts)
        return things_of(Histogram(counts=counts, edges=edges), name, step, time)
    data = message["data"]
    mime = mime_of(data[:4096]) or "application/octet-stream"
    size = image_size(data, mime)
    meta = {} if size is None else {"width": size[0], "height": size[1]}
    family = mime.partition("/")[0]
    found = family if family in ("image", "audio") else "file"
    caption = message["caption"] or None
    key = as_name(name)
    return [Thing(Media(key=key, step=step, time=time, kind=found, mime=mime, meta=captioned(meta, caption)), data)]
