"""Where source code touches somebody else's process: patches, hooks, modes, handlers. Read from the syntax alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Touch", "touches_of"]

_HOOK = re.compile(r"^register_(\w+_)?hook$")
_MODES = {"TorchFunctionMode", "TorchDispatchMode", "saved_tensors_hooks"}
_CALLS = {
    "sys.settrace", "sys.setprofile", "sys.addaudithook", "threading.settrace", "threading.setprofile",
    "threading.settrace_all_threads", "threading.setprofile_all_threads", "signal.signal", "signal.set_wakeup_fd",
    "os.register_at_fork", "faulthandler.enable", "faulthandler.register", "faulthandler.dump_traceback_later",
    "sys.meta_path.insert", "sys.meta_path.append", "sys.path_hooks.append", "sys.path_hooks.insert",
    "gc.callbacks.append", "gc.callbacks.insert",
}  # fmt: skip
_ENGINE = "_engine_run_backward"
_METHODS = {"write", "exec_module", "f_trace", "__call__", "__init__"}
"""Set on an object they replace what it does, whoever made it."""


class Touch(NamedTuple):
    line: int
    what: str


def touches_of(path: Path) -> list[Touch]:
    """Each place, with what it does; in the order of the file."""
    tree = ast.parse(path.read_text())
    foreign = set(_foreign_names(tree))
    foreign.update(_other_names(tree, foreign))
    found = {touch for node in ast.walk(tree) for touch in _in_node(node, foreign)}
    return sorted(found)


def _foreign_names(tree: ast.AST) -> Iterator[str]:
    """Names that stand for modules, classes and functions of others."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] != "stepscope":
                    yield alias.asname or alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] != "stepscope":
            for alias in node.names:
                yield alias.asname or alias.name


def _other_names(tree: ast.AST, foreign: set[str]) -> Iterator[str]:
    """Further names for parts of those: `kind = torch.optim.Optimizer`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and _root(node.value) in foreign:
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _in_node(node: ast.AST, foreign: set[str]) -> Iterator[Touch]:
    if isinstance(node, ast.Call):
        yield from _in_call(node, foreign)
    elif isinstance(node, ast.ImportFrom) and node.module == "stepscope.events.patches":
        for alias in node.names:
            if alias.name in ("install", "replace"):
                yield Touch(node.lineno, f"patches by events.patches.{alias.name}, past the table of points")
    elif isinstance(node, ast.ClassDef):
        for base in node.bases:
            if _last(base) in _MODES:
                yield Touch(node.lineno, f"subclasses {_last(base)}")
    elif isinstance(node, ast.Attribute | ast.Constant) and _ENGINE in (
        getattr(node, "attr", None),
        getattr(node, "value", None),
    ):
        yield Touch(node.lineno, "reaches for autograd's engine")
    for target in _targets(node):
        yield from _in_target(target, foreign)


def _in_call(node: ast.Call, foreign: set[str]) -> Iterator[Touch]:
    name, last = _dotted(node.func), _last(node.func)
    if name in _CALLS:
        yield Touch(node.lineno, f"calls {name}")
    elif _HOOK.match(last):
        yield Touch(node.lineno, f"calls {last}")
    elif last in _MODES:
        yield Touch(node.lineno, f"enters {last}")
    elif last == "patch" and "installed" in name.lower():
        yield Touch(node.lineno, "patches by Installed.patch")
    elif name in ("setattr", "delattr", "object.__setattr__") and node.args and _root(node.args[0]) in foreign:
        yield Touch(node.lineno, f"sets an attribute of {_dotted(node.args[0])}")


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        yield node.target
    elif isinstance(node, ast.Delete):
        yield from node.targets


def _in_target(target: ast.expr, foreign: set[str]) -> Iterator[Touch]:
    if not isinstance(target, ast.Attribute):
        return
    is_method = target.attr in _METHODS and _root(target) not in ("self", "cls")
    if is_method or _root(target) in foreign:
        yield Touch(target.lineno, f"sets {_dotted(target)}")


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
