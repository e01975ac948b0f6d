"""In a dry run the folder of the script stays as it was: what is opened there for writing is taken away at the end.

A file that is new is written where the script wants it, so that everything finds it, and removed at the end. One that
exists is never touched: the script writes to, and reads, a copy. Removing and renaming such files only seems to happen.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import wraps
from typing import Any

from stepscope import fence
from stepscope.events import Installed

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PATCHES = os.path.join(_PACKAGE, "events") + os.sep
_PASSED_THROUGH = (__file__, os.path.join(_PACKAGE, "fence.py"), "pathlib.py", "shutil.py", "tempfile.py", "os.py")
_WRITES = frozenset("wax+")
_OPENERS = ("builtins:open", "io:open")
_REMOVERS = ("os:remove", "os:unlink")


class FolderKept:
    """Keeps folders as they are, until `remove`. Only in this process; what C code writes by itself is not seen."""

    def __init__(self, folders: list[str], say: Callable[[str], None]) -> None:
        self.made: list[str] = []
        """Files and folders that were not there, in the order they came."""
        self.copies: dict[str, str] = {}
        """Files that were there, and where their copies are."""
        self._roots = tuple(os.path.realpath(one) + os.sep for one in folders)
        self._say = say
        self._shadow: str | None = None
        self._pid = os.getpid()
        self._installed = Installed(stays_in_parent=True)
        for point in _OPENERS:
            self._installed.wrap(point, self._opening)
        for point in _REMOVERS:
            self._installed.wrap(point, self._removing)
        for point in ("os:rename", "os:replace"):
            self._installed.wrap(point, self._renaming)
        self._installed.wrap("os:mkdir", self._making)
        self._installed.wrap("shutil:rmtree", self._clearing)

    def remove(self) -> None:
        self._installed.remove()
        for path in reversed(self.made):
            if os.path.isdir(path) and not os.path.islink(path):
                _quietly(os.rmdir, path)
            else:
                _quietly(os.unlink, path)
        if self._shadow is not None:
            shutil.rmtree(self._shadow, ignore_errors=True)

    # -- layers ---------------------------------------------------------------------------------------------------

    def _opening(self, original: Any) -> Any:
        @wraps(original)
        def opened(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
            place = file
            if isinstance(file, str | os.PathLike) and isinstance(mode, str):
                place = self._safely(self._place_for, os.fspath(file), mode) or file
            return original(place, mode, *args, **kwargs)

        return opened

    def _removing(self, original: Any) -> Any:
        @wraps(original)
        def removed(path: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("dir_fd") is None and self._safely(self._is_kept, path):
                return None
            return original(path, *args, **kwargs)

        return removed

    def _renaming(self, original: Any) -> Any:
        @wraps(original)
        def renamed(source: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            if self._safely(self._renamed_aside, source, target):
                return None
            done = original(source, target, *args, **kwargs)
            self._safely(self._note_rename, source, target)
            return done

        return renamed

    def _making(self, original: Any) -> Any:
        @wraps(original)
        def made(path: Any, *args: Any, **kwargs: Any) -> Any:
            done = original(path, *args, **kwargs)
            self._safely(self._note, path)
            return done

        return made

    def _clearing(self, original: Any) -> Any:
        @wraps(original)
        def cleared(path: Any, *args: Any, **kwargs: Any) -> Any:
            return None if self._safely(self._is_kept, path) else original(path, *args, **kwargs)

        return cleared

    def _safely(self, function: Callable[..., Any], *args: Any) -> Any:
        """An internal error leaves the script's call as it is; in a forked child nothing is meant."""
        if os.getpid() != self._pid:
            return None
        return fence.fenced("keeping a folder as it is")(function)(*args)

    # -- what is where --------------------------------------------------------------------------------------------

    def _path(self, path: Any) -> str | None:
        """The whole path, if it lies in one of the folders and the script is asking, not Stepscope."""
        if isinstance(path, int) or _is_ours():
            return None
        whole = os.path.abspath(os.fsdecode(os.fspath(path)))
        real = os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))
        holds = any(root.startswith(real.rstrip(os.sep) + os.sep) for root in self._roots)  # a folder they lie in
        return real if holds or real.startswith(self._roots) else None

    def _place_for(self, file: str, mode: str) -> str | None:
        writes = bool(_WRITES.intersection(mode))
        if not writes and not self.copies:
            return None
        path = self._path(file)
        if path is None:
            return None
        if not writes:
            return self.copies.get(path)
        if path in self.made or not os.path.exists(path):
            self._note(path)
            return None
        return self.copies.get(path) or self._copied(path)

    def _copied(self, path: str) -> str | None:
        if not os.path.isfile(path):  # a pipe or a device is not a file of the user's
            return None
        if self._shadow is None:
            self._shadow = tempfile.mkdtemp(prefix="stepscope-dry-")
            self._say(f"nothing is saved in a dry run: {os.path.basename(path)} and later files are not written")
        place = os.path.join(self._shadow, f"{len(self.copies)}-{os.path.basename(path)}")
        shutil.copy2(path, place)
        self.copies[path] = place
        return place

    def _note(self, path: Any) -> None:
        whole = self._path(path)
        if whole is not None and whole not in self.made:
            self.made.append(whole)

    def _is_kept(self, path: Any) -> bool:
        """Whether this was there before the script: it must not go."""
        whole = self._path(path)
        return whole is not None and whole not in self.made and os.path.exists(whole)

    def _renamed_aside(self, source: Any, target: Any) -> bool:
        """A rename that would take or replace a file that was there: the copies change instead."""
        first, second = self._path(source), self._path(target)
        takes = first is not None and first not in self.made
        replaces = second is not None and second not in self.made and os.path.exists(second)
        if not takes and not replaces:
            return False
        if second is not None and first is not None and os.path.isfile(first):
            place = self.copies.get(first) or self._copied(first)
            if place is not None:
                self.copies[second] = place
        return True

    def _note_rename(self, source: Any, target: Any) -> None:
        first, second = self._path(source), self._path(target)
        if first in self.made:
            self.made.remove(first)
            if second is not None:
                self.made.append(second)


def _is_ours() -> bool:
    """Whether Stepscope itself is asking: its code is met before any other but Python's own."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PATCHES) and not file.endswith(_PASSED_THROUGH):
            return file.startswith(_PACKAGE)
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _quietly(function: Callable[[str], None], path: str) -> None:
    try:
        function(path)
    except OSError:  # gone already, or something else was put in the folder
        pass
