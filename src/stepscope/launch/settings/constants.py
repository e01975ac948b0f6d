"""What the text of a script says by itself: constants at its top, and the environment variables it reads."""

from __future__ import annotations

import ast
import io
import os
import re
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from stepscope.common.code_owner import is_own_file, maybe_own
from stepscope.launch.settings.source import COMMAND_LINE, DEFAULT, ENVIRONMENT, SCRIPT, Words

PLAIN = (int, float, str, bool, type(None))
MOST = 200
_LONGEST = 200
"""Longer texts are data (a corpus, a prompt), not settings."""
_LARGEST = 400_000
_MODULES = 100
_SURROUNDINGS = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|LANG|TMPDIR|DISPLAY|HOSTNAME|LC_\w+|XDG_\w+|PYTHON\w*|CONDA_\w+|VIRTUAL_ENV"
    r"|CUDA_\w+|NVIDIA_\w+|NCCL_\w+|OMP_\w+|MKL_\w+|TORCH\w*|PYTORCH_\w+|SLURM_\w+|OMPI_\w+|MASTER_\w+|STEPSCOPE_\w+"
    r"|(LOCAL_|GROUP_|ROLE_)?(RANK|WORLD_SIZE)|HF_\w+|WANDB_\w+|TOKENIZERS_PARALLELISM|KMP_\w+|COLUMNS|NO_COLOR"
)
"""Variables about the machine, which are kept with the run's environment where they matter."""


def constants_of(main: ModuleType) -> dict[str, Any]:
    """Simple values bound once at the top of the script: `LR = 1e-3`, `epochs = 5`."""
    tree = _tree_of(main)
    bound: dict[str, int] = {}
    literal: set[str] = set()
    for name in () if tree is None else _bound_inside(tree):
        bound[name] = 2
    for node in [] if tree is None else tree.body:
        for target in _names_bound(node):
            bound[target] = bound.get(target, 0) + 1
            if isinstance(node, ast.Assign | ast.AnnAssign) and _is_simple(node.value):
                literal.add(target)
    names = vars(main)
    kept = [n for n in bound if bound[n] == 1 and n in literal and not n.startswith("_") and n in names]
    return {name: names[name] for name in kept[:MOST] if _is_setting(names[name])}


def _is_setting(value: Any) -> bool:
    return isinstance(value, PLAIN) and not (isinstance(value, str) and len(value) > _LONGEST)


def origin_of_constant(name: str, value: Any) -> str:
    """Scripts that run a configurator over their globals take `--lr=0.1` from the command line."""
    return COMMAND_LINE if Words(sys.argv[1:]).give(name) else SCRIPT


def variables_read() -> dict[str, tuple[Any, str]]:
    """The environment variables that the script's own modules read, with their values and where those come from."""
    found: dict[str, tuple[Any, str]] = {}
    for module in _own_modules():
        tree = _tree_of(module)
        for name, default in () if tree is None else variables_of(tree):
            if _SURROUNDINGS.fullmatch(name):
                continue
            if name in os.environ:
                found[name] = (os.environ[name], ENVIRONMENT)
            elif default is not None:
                found.setdefault(name, (default, DEFAULT))
    return found


def variables_of(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """`os.environ["LR"]`, `os.environ.get("LR", "0.1")`, `os.getenv("LR")`: names, and defaults that are written out.

    >>> list(variables_of(ast.parse('lr = float(os.getenv("LR", "0.1")); seed = os.environ["SEED"]')))
    [('LR', '0.1'), ('SEED', None)]
    """
    found = [one for node in ast.walk(tree) if (one := _variable(node)) is not None]
    yield from sorted(found, key=lambda one: one[0])


def _variable(node: ast.AST) -> tuple[str, Any] | None:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _is_environ(node.value):
        return _named(node.slice, None)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    called = node.func
    is_get = isinstance(called, ast.Attribute) and called.attr in ("get", "setdefault") and _is_environ(called.value)
    is_getenv = (isinstance(called, ast.Attribute) and called.attr == "getenv") or (
        isinstance(called, ast.Name) and called.id == "getenv"
    )
    return _named(node.args[0], node.args[1] if len(node.args) > 1 else None) if is_get or is_getenv else None


def _is_environ(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name == "environ"


def _named(name: ast.expr, default: ast.expr | None) -> tuple[str, Any] | None:
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    return name.value, default.value if isinstance(default, ast.Constant) else None


def _own_modules() -> list[ModuleType]:
    modules = [sys.modules.get("__main__"), *(module for _, module in maybe_own(list(sys.modules)))]
    own = [one for one in modules if isinstance(one, ModuleType) and _is_own(one)]
    return list(dict.fromkeys(own))[:_MODULES]


def _is_own(module: ModuleType) -> bool:
    file = vars(module).get("__file__")
    return isinstance(file, str) and (vars(module).get("__name__") == "__main__" or is_own_file(file))


def _tree_of(module: ModuleType) -> ast.Module | None:
    try:
        with io.open(str(module.__file__), encoding="utf-8") as file:  # noqa: UP020 - not what a test puts into builtins
            return ast.parse(file.read(_LARGEST))
    except (OSError, SyntaxError, ValueError, AttributeError, RecursionError):
        return None


def _names_bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.AugAssign):
        return [node.target.id] * 2 if isinstance(node.target, ast.Name) else []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    found = []
    for target in targets:
        items = target.elts if isinstance(target, ast.Tuple) else [target]
        found += [item.id for item in items if isinstance(item, ast.Name)]
    return found


def _bound_inside(tree: ast.Module) -> Iterator[str]:
    """Names that the loops of the script bind again, or its functions by `global`: counters and results, no settings.

    >>> text = "n = best = 0; lr = 0.1\\nfor i in data:\\n    n += 1; lr *= 0.9\\n    best = max(best, i)"
    >>> sorted(_bound_inside(ast.parse(text)))
    ['best', 'i', 'n']
    """
    left: list[tuple[ast.AST, bool]] = [(node, False) for node in tree.body]
    while left:
        node, is_repeated = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from (name for one in ast.walk(node) if isinstance(one, ast.Global) for name in one.names)
            continue
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            is_repeated = True
        if isinstance(node, ast.For | ast.AsyncFor):
            yield from (one.id for one in ast.walk(node.target) if isinstance(one, ast.Name))
        is_scaled = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Mult | ast.Div)  # a schedule
        if is_repeated and isinstance(node, ast.stmt) and not is_scaled:
            yield from dict.fromkeys(_names_bound(node))
        left += [(child, is_repeated) for child in ast.iter_child_nodes(node)]


def _is_simple(value: ast.expr | None) -> bool:
    """Numbers, texts and arithmetic of numbers; no calls."""
    if value is None:
        return False
    allowed = ast.Constant | ast.UnaryOp | ast.BinOp | ast.operator | ast.unaryop | ast.Tuple | ast.expr_context
    return all(isinstance(node, allowed) for node in ast.walk(value))


def as_settings(variables: Mapping[str, tuple[Any, str]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Variables as settings under `env/`, beside those that have the same name elsewhere."""
    values = {f"env/{name}": value for name, (value, _) in variables.items()}
    return values, {f"env/{name}": origin for name, (_, origin) in variables.items()}
