"""A file stored unchanged. For large files and folders use artifacts."""

from __future__ import annotations

import mimetypes
import os
from pathlib import Path

from stepscope.track.media.loggable import Encoded, harmless, one
from stepscope.track.media.sniff import read_file

MAX_BYTES = 64 << 20


@harmless
class File:
    """A small file to log at a step: `run.log({"predictions": stepscope.File("predictions.csv")})`."""

    def __init__(self, path: str | os.PathLike[str], caption: str | None = None) -> None:
        self.caption = caption
        self._data = read_file(path, "file", MAX_BYTES)
        self._name = Path(path).name.encode("utf-8", errors="replace").decode()

    def encode(self, key: str, step: int, time: float) -> Encoded:
        mime = mimetypes.guess_type(self._name)[0] or "application/octet-stream"
        meta = {"name": self._name}
        return one(key, step, time, kind="file", mime=mime, data=self._data, meta=meta, caption=self.caption)
