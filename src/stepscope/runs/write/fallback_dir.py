"""Where to write when the run folder is gone: the same place, recreated, or a temporary folder."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

from stepscope.files.opening import read_file
from stepscope.runs.format.filesystem import make_folder
from stepscope.runs.format.layout import LARGEST_META, META, write_file
from stepscope.runs.format.sealed import seal_of

_WORDS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EIO: "the disk reports an error",
    errno.EFBIG: "the file may not grow any further",
    errno.ENOENT: "the folder is gone",
    errno.ESTALE: "the folder is gone from its server",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open on this machine",
}
_SHORT_OF_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def in_words(fault: OSError) -> str:
    """A disk error, in words."""
    return _WORDS.get(fault.errno or 0, (fault.strerror or str(fault)).lower())


class Refuge:
    """Remembers the run's description, so that its folder can be recreated."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._meta: bytes | None = read_file(path / META, LARGEST_META, within=path)
        except OSError:
            self._meta = None

    @property
    def identity(self) -> bytes | None:
        """The run's `meta.json`, as also stored in the logs; None if it is missing or already damaged."""
        return self._meta if self._meta is not None and seal_of(self._meta) == "sound" else None

    def restore(self) -> Path:
        """The run folder, recreated if necessary. Raises OSError if not even a temporary folder is available."""
        try:
            self._make()
        except OSError as fault:
            if fault.errno in _SHORT_OF_SPACE:
                raise
            return self.elsewhere()
        return self.path

    def elsewhere(self) -> Path:
        """A temporary folder in place of an unwritable one."""
        self.path = Path(tempfile.mkdtemp(prefix="stepscope-")) / self.path.name
        self._make()
        return self.path

    def _make(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        make_folder(self.path, exist_ok=True)
        if self._meta is not None and not (self.path / META).exists():
            write_file(self.path / META, self._meta)
