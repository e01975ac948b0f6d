"""Options in the source: the line that adds one, and whether anything reads it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from stepscope.diagnose.source import SourceFile, called_name

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.options import Option
    from stepscope.records.step import Site

_SHOWING = frozenset((
    "print", "info", "debug", "join", "format", "str", "repr", "dumps", "dump", "pprint", "write", "items", "log",
    "sorted", "save_hyperparameters", "log_params", "init", "update", "add_hparams", "add_text", "asdict", "dict",
))  # fmt: skip
"""What takes all options only to show or to store them."""


def option_line(run: Evidence, option: Option) -> Site | None:
    """Where an option is added to its parser."""
    for file in run.source.files():
        for call in file.calls("add_argument"):
            if any(isinstance(arg, ast.Constant) and arg.value in option.flags for arg in call.args):
                return file.site(call)
    return None


def is_read(run: Evidence, option: Option) -> bool:
    """Whether anything in the user's own files may read this option: by its name, or all options at once."""
    return any(_reads(file, option) or _hands_on(file) for file in run.source.files())


def _reads(file: SourceFile, option: Option) -> bool:
    for node in file.walk(ast.Attribute, ast.Constant):
        if isinstance(node, ast.Attribute) and node.attr == option.name and isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.Constant) and node.value == option.name:
            return True
    return False


def _hands_on(file: SourceFile) -> bool:
    """Whether all options go somewhere at once: `**vars(args)`, `Config(args)`, `options = vars(args)`."""
    names = {
        target.id
        for node in file.walk(ast.Assign)
        if isinstance(node.value, ast.Call) and _parses(file, node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    handed = {arg.arg for node in file.walk(ast.FunctionDef) for arg in node.args.args}
    own = {node.name for node in file.walk(ast.FunctionDef, ast.ClassDef)}
    for node in file.walk(ast.Name):
        if not isinstance(node.ctx, ast.Load) or node.id not in names | handed:
            continue
        parent = file.parents.get(node)
        if isinstance(parent, ast.Attribute) and parent.attr != "__dict__":
            continue
        whole = called_name(parent) == "vars" if isinstance(parent, ast.Call) else isinstance(parent, ast.Attribute)
        if (node.id in names or whole) and not _is_shown(file, node, own):
            return True
    return False


def _parses(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call gives the parsed options: `parse_args`, or a function of the file that calls it."""
    name = called_name(call)
    return name in ("parse_args", "parse_known_args") or any(
        node.name == name and any(called_name(inner) == "parse_args" for inner in ast.walk(node))
        for node in file.walk(ast.FunctionDef)
    )


def _is_shown(file: SourceFile, node: ast.AST, own: set[str]) -> bool:
    """Whether this use of all options only shows them, or hands them to a function of the script's own."""
    inner = node
    for outer in file.up(node):
        if isinstance(outer, ast.keyword) and outer.arg is None:
            return False
        if isinstance(outer, ast.Call) and inner is not outer.func:
            name = called_name(outer)
            if name == "vars":
                inner = outer
                continue
            return name in _SHOWING or name in own
        if isinstance(outer, (ast.JoinedStr, ast.FormattedValue, ast.comprehension, ast.Return, ast.Expr)):
            return True
        if isinstance(outer, ast.stmt):
            return False
        inner = outer
    return False
