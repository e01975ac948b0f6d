"""Whose code a file is: the user's own, a library's on top of torch, or torch's, Python's and ours."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig

__all__ = ["OWN", "USERS", "is_own_file", "is_users_file"]

USERS: dict[str, bool] = {}
"""Whether a file is the user's or a library's of theirs, for those met: Python takes two functions with the same text
for one code, so it goes by file."""
OWN: dict[str, bool] = {}
"""Whether a file belongs to the project being run, for those met."""


_OURS = os.path.dirname(os.path.dirname(__file__))


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


def is_users_file(file: str) -> bool:
    """Whether a file is the user's (or a library's on top of torch), and not torch's, Python's or ours."""
    known = USERS.get(file)
    if known is None:
        if file.startswith((*_OTHERS[:2], "<frozen")):
            known = False
        else:  # site-packages lies inside the standard library's folder
            known = file.startswith(_PACKAGES) or not file.startswith(_OTHERS)
        USERS[file] = known
    return known


def is_own_file(file: str) -> bool:
    """Whether a file belongs to the project being run, and not to an installed package."""
    known = OWN.get(file)
    if known is None:
        installed = file.startswith((*_PACKAGES, "<")) or "site-packages" in file or "dist-packages" in file
        known = OWN[file] = is_users_file(file) and not installed
    return known
