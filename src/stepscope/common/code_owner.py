"""Whose code a file is: the user's own, a third-party library's, or torch's, Python's and Stepscope's.

`is_own_file` and `is_users_file` check this machine and are cached for frames of a running script.
`is_library_path` uses the path alone, for files of other machines: traces, stored tracebacks.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

USERS: dict[str, bool] = {}
"""Cache: whether a file is the user's or a third-party library's. By file, because Python may share one code object
between two functions with the same text."""
OWN: dict[str, bool] = {}
"""Cache: whether a file belongs to the project being run."""

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]([^/\\]+)")
_PYTHON = re.compile(r"[/\\]lib[/\\]python\d?(\.\d+)?[/\\]", re.I)
_NO_FILE = ("<frozen", "<string>", "<__array_function__")
_COMPILED = (".pyx", ".pxi")
"""Cython names its source in frames of compiled packages, by a path from the build machine."""


def _torchs_folder() -> str:
    """Found without importing it."""
    loaded = getattr(sys.modules.get("torch"), "__file__", None)
    spec = None if loaded else importlib.util.find_spec("torch")
    origin = loaded or (None if spec is None else spec.origin)
    return os.path.dirname(origin) if origin else os.path.join(os.sep, "no", "torch")


def _folders() -> tuple[str, ...]:
    library = sysconfig.get_paths()
    folders = [_torchs_folder(), _OURS, library["stdlib"], library["platstdlib"]]
    return tuple(os.path.join(os.path.abspath(folder), "") for folder in folders)


_OTHERS = _folders()
_PACKAGES = tuple({os.path.join(path, "") for name in ("purelib", "platlib") if (path := sysconfig.get_paths()[name])})
_NOT_OWN: set[str] = set()
"""The packages that are not the project's own, whose thousands of modules are passed over."""
_NEVER_THEIRS, _PACKAGES_OR_NO_FILE = (*_OTHERS[:2], "<frozen"), (*_PACKAGES, "<")


def is_users_file(file: str) -> bool:
    """Whether a file is the user's (or a third-party library's), and not torch's, Python's or Stepscope's."""
    known = USERS.get(file)
    if known is None:
        # site-packages is inside the standard library's folder
        theirs = file.startswith(_PACKAGES) or not file.startswith(_OTHERS)
        known = theirs and not file.startswith(_NEVER_THEIRS)
        USERS[file] = known
    return known


def is_own_file(file: str) -> bool:
    """Whether a file belongs to the project being run, and not to an installed package."""
    known = OWN.get(file)
    if known is None:
        known = OWN[file] = is_users_file(file) and not _is_installed(file) and not file.endswith(_COMPILED)
    return known


def maybe_own(names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Of loaded modules, by their names in order of import, those that do not belong to an installed package."""
    for name in names:
        root = name.partition(".")[0]
        module = None if root in _NOT_OWN else sys.modules.get(name)
        if module is None:
            continue
        file = getattr(module, "__file__", None)
        if name == root != "__main__" and isinstance(file, str) and not is_own_file(file):
            _NOT_OWN.add(root)
        else:
            yield name, module


def is_ours(file: str) -> bool:
    """Whether a file is Stepscope's."""
    return file.startswith(_OURS)


def package_in(path: str) -> str | None:
    """The installed package that a path belongs to.

    >>> package_in("/x/site-packages/PIL/Image.py"), package_in("/home/me/train.py")
    ('PIL', None)
    """
    found = _INSTALLED.search(path)
    return None if found is None else found[1].removesuffix(".py")


def is_library_path(path: str) -> bool:
    """Whether a path, on any machine, is in Python's library or an installed package.

    >>> [is_library_path(p) for p in ("/opt/site-packages/x/y.py", "/usr/lib/python3.11/enum.py", "src/model.py")]
    [True, True, False]
    """
    return _INSTALLED.search(path) is not None or _PYTHON.search(path) is not None or path.startswith(_NO_FILE)


def _is_installed(file: str) -> bool:
    if file.startswith(_PACKAGES_OR_NO_FILE) or _INSTALLED.search(file) is not None:
        return True
    full = os.path.abspath(file)
    return any(full.startswith(os.path.join(folder, "")) for folder in sys.path if folder and _holds_packages(folder))


@lru_cache(maxsize=256)
def _holds_packages(folder: str) -> bool:
    """Whether packages were installed into a folder of the path (`pip install --target`)."""
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False
