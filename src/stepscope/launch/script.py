"""A user's script, run in this process as `__main__`, so that it cannot tell the difference.

Classes it defines can be pickled, spawned children import it again as Python would, `sys.argv`, `sys.path[0]`,
`__file__` and `__spec__` are what `python train.py` or `python -m pkg.train` would have given it.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import io
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import takewhile
from types import CodeType, FrameType, ModuleType
from typing import Any

from stepscope.errors import NotFound, UsageError
from stepscope.events import Installed


@dataclass(frozen=True)
class Script:
    """What is to be run, found and named, not yet compiled."""

    path: str
    """The file, absolute."""
    argv: tuple[str, ...]
    """`sys.argv` as the script will see it."""
    folder: str
    """What `sys.path` begins with."""
    spec: importlib.machinery.ModuleSpec | None = None
    """For `-m pkg.train`."""

    @property
    def name(self) -> str:
        """How a person calls it: `train.py`, or `pkg.train`."""
        return os.path.basename(self.path) if self.spec is None else self.spec.name.removesuffix(".__main__")


def find_script(path: str, args: Sequence[str]) -> Script:
    """The script in a file, or in a folder or archive with a `__main__.py`."""
    if os.path.isdir(path):
        inner = os.path.join(path, "__main__.py")
        if not os.path.isfile(inner):
            raise UsageError(f"{path!r} is a folder without a __main__.py; give the script itself: {path}/train.py")
        return Script(os.path.abspath(inner), (path, *args), os.path.abspath(path))
    if not os.path.exists(path):
        raise NotFound(f"there is no file {path!r} in {os.getcwd()}{_hint(path)}")
    if not os.access(path, os.R_OK):
        raise UsageError(f"{path!r} is not readable; its permissions are {oct(os.stat(path).st_mode & 0o777)[2:]}")
    folder = os.path.dirname(os.path.realpath(path))
    return Script(os.path.abspath(path), (path, *args), folder)


def _hint(path: str) -> str:
    from difflib import get_close_matches

    folder = os.path.dirname(path) or "."
    try:
        files = [name for name in os.listdir(folder) if name.endswith(".py")]
    except OSError:
        return ""
    near = get_close_matches(os.path.basename(path), files, n=1)
    if near:
        return f"; did you mean {os.path.join(os.path.dirname(path), near[0])!r}?"
    if "." in path and not path.endswith(".py") and os.sep not in path:
        return f"; for a module use: stepscope run -m {path}"
    return ""


def find_module(name: str, args: Sequence[str]) -> Script:
    """The script in a module, as `python -m` finds it; the current folder is on the path meanwhile and after."""
    folder = os.getcwd()
    if not _safe_path():
        _lead_path_with(folder)
    spec = _spec_of(name)
    if spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = _spec_of(name, f"{name.removesuffix('.__main__')!r} is a package without a __main__.py")
    if spec.origin is None or not hasattr(spec.loader, "get_code"):
        raise UsageError(f"module {name!r} has no Python code to run")
    return Script(spec.origin, (spec.origin, *args), folder, spec)


def _spec_of(name: str, why: str = "") -> importlib.machinery.ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        raise NotFound(f"cannot run module {name!r}: {error}; looked in {os.getcwd()} and on sys.path") from None
    except ValueError:
        spec = None
    if spec is None:
        raise NotFound(why or f"there is no module {name!r} in {os.getcwd()} or on sys.path{_without_py(name)}")
    return spec


def _without_py(name: str) -> str:
    return f"; did you mean 'stepscope run {name}', without -m?" if name.endswith(".py") else ""


def _safe_path() -> bool:
    return bool(getattr(sys.flags, "safe_path", False) or sys.flags.isolated)


def _lead_path_with(folder: str) -> None:
    """Take our own entry at the head of the path (the folder of the `stepscope` command) for the script's."""
    if sys.path:
        sys.path[0] = folder
    else:
        sys.path.append(folder)


def compiled(script: Script) -> CodeType:
    """The script's code. Its syntax errors are its own: Python's SyntaxError, as plain Python would raise it."""
    if script.spec is not None:
        code = script.spec.loader.get_code(script.spec.name)  # type: ignore[union-attr]
        assert isinstance(code, CodeType)
        return code
    with io.open_code(script.path) as file:
        source = file.read()
    return compile(source, script.path, "exec", dont_inherit=True)


def main_module(script: Script) -> ModuleType:
    """A fresh `__main__` for it, with the names Python gives one."""
    module = ModuleType("__main__")
    names: dict[str, Any] = {
        "__file__": script.path,
        "__builtins__": sys.modules["builtins"],
        "__spec__": script.spec,
        "__cached__": None,
        "__package__": None,
        "__annotations__": {},
        "__doc__": None,
    }
    if script.spec is None:
        names["__loader__"] = importlib.machinery.SourceFileLoader("__main__", script.path)
    else:
        spec = script.spec
        names.update(__cached__=spec.cached, __package__=spec.parent, __loader__=spec.loader)
    module.__dict__.update(names)
    return module


def take_place(script: Script) -> None:
    """Have `sys.argv` and `sys.path` as the script will find them."""
    sys.argv[:] = list(script.argv)
    if not _safe_path():
        _lead_path_with(script.folder)


def run_as_main(script: Script) -> ModuleType:
    """Run it to its end. Whatever it raises comes out as it is, with our frames on top of its own.

    `__main__`, `sys.argv` and `sys.path[0]` stay the script's after: threads, `atexit` and pickling still need them.
    """
    take_place(script)
    module = main_module(script)
    sys.modules["__main__"] = module
    code = compiled(script)
    # For a debugger the script ends where it ends, not in here: on one line, because it would stop at the next one.
    exec(code, module.__dict__); sys._getframe().f_trace = None  # noqa: E702  # fmt: skip
    debugger = getattr(sys.modules.get("bdb"), "Bdb", ())
    if isinstance(
        getattr(sys.gettrace(), "__self__", None), debugger
    ):  # only C functions here: it would stop in others
        sys.settrace(None)
    return module


def end_stacks_at_script(installed: Installed) -> None:
    """Have `traceback.format_stack` and its like show the script's frames only.

    Anomaly detection formats the whole stack at each operation: with ours below, it would take twice as long.
    """
    installed.wrap("traceback:walk_stack", _within_script, owner=traceback)


def _within_script(plain: Callable[[FrameType | None], Iterator[tuple[FrameType, int]]]) -> Any:
    @wraps(plain)
    def walk_stack(f: FrameType | None) -> Iterator[tuple[FrameType, int]]:
        if f is None:  # it counts frames to find its caller
            return plain(f)
        return takewhile(lambda one: one[0].f_code is not run_as_main.__code__, plain(f))

    return walk_stack
