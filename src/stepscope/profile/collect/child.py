"""What becomes of a trace after its window, in a process of its own, so that training is not held up.

The trace is read into columns (`rank0.events`), then packed (`rank0.trace.json.gz`). Until both are there readers use
the plain trace; if this process dies, they always will.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_START = "import json, sys; paths, folder, rank = json.loads(sys.argv[1]); sys.path[:] = paths; from stepscope.profile.collect.child import behind; behind(folder, rank)"  # noqa: E501


class Reading:
    """The child at work on one window."""

    def __init__(self, folder: Path, rank: int) -> None:
        self.folder = folder
        self.rank = rank
        # Not the script's own folder: a module with the same name as one of Stepscope's would be imported instead.
        ours = str(Path(__file__).resolve().parents[3])
        paths = [ours, *(path for path in sys.path[1:] if path and path != ours)]
        said = self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps([paths, str(folder), rank])],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
            close_fds=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    @property
    def is_done(self) -> bool:
        """As far as was seen."""
        return self._process.returncode is not None

    def look(self) -> None:
        """See whether it is done, so that it does not stay behind as a zombie."""
        self._process.poll()

    def wait(self, timeout_s: float) -> str | None:
        """Wait for it; what went wrong, or None."""
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return f"reading the trace takes longer than {timeout_s:.0f} s; it continues in the background"
        if code == 0:
            self._said.close()
            return None
        self._said.seek(0)
        last = self._said.read()[-4000:].decode(errors="replace").strip().splitlines()[-1:]
        self._said.close()
        return (
            f"the trace could not be read ahead ({' '.join(last) or f'exit code {code}'}); it is read when it is opened"
        )


def behind(folder: str, rank: int) -> None:
    """The child's main: gives way to the training."""
    if hasattr(os, "nice"):
        os.nice(10)
    digest(folder, rank)


def digest(folder: str, rank: int) -> None:
    """Read, save, pack: each step leaves the profile whole."""
    from stepscope.profile.trace.columns import save_events
    from stepscope.profile.trace.read import read_trace

    place = Path(folder)
    trace = place / f"rank{rank}.trace.json"
    is_plain = trace.exists()
    found = trace if is_plain else trace.with_name(trace.name + ".gz")
    save_events(read_trace(found, cache=False), place / f"rank{rank}.events")
    if is_plain:
        pack(trace)


def pack(trace: Path) -> None:
    """`x.json` becomes `x.json.gz`."""
    fd, temporary = tempfile.mkstemp(prefix=".", suffix=".gz", dir=trace.parent)
    try:
        with open(trace, "rb") as plain, open(fd, "wb") as raw, gzip.GzipFile("", "wb", 5, raw, mtime=0) as packed:
            shutil.copyfileobj(plain, packed, 1 << 20)
        os.replace(temporary, trace.with_name(trace.name + ".gz"))
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    trace.unlink()
