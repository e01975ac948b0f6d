"""Where a value that is not a tensor came from: the expression that made it, through names, arguments and attributes.

A name may be bound in several places. Those that cannot have given what the name holds now (a constructor of another
class, a literal of another type) are not the one.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from stepscope.common.syntax import said, tree_of
from stepscope.diagnose.crash.bindings import Binding, bindings_in, node_site, scope_of
from stepscope.diagnose.crash.classes import values_returned
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, Frame, type_name
from stepscope.evidence.frame_values import Held, HeldItems, HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

_DEEPEST = 8
_GIVES = {"len": "int", "sum": "", "open": "TextIOWrapper", "input": "str", "super": ""}
_NUMBERS = frozenset({"int", "float", "bool"})
_NOT_CLASSES = frozenset({"super", "sum", "open", "input", "len", "max", "min", "abs", "round", "next", "iter"})


@dataclass(frozen=True)
class Made:
    """The expression that gave a value, and how it is reached from the line that failed."""

    file: str
    node: ast.AST
    frame: Frame
    """Whose names the expression reads; the nearest one known."""
    binding: Binding | None = None
    name: str = ""

    @property
    def site(self) -> Site:
        return node_site(self.file, self.node)

    @property
    def text(self) -> str:
        return said(self.node)


def describe(value: Any) -> str:
    """What a name stood for, in a few words: `a float32 tensor [4, 3]`, `a list of 3`, `None`."""
    if value is None:
        return "None"
    if value is MISSING:
        return "something"
    if isinstance(value, HeldTensor) and not value.shape:
        return f"a tensor with a single number ({value.dtype})"
    if isinstance(value, HeldTensor):
        return f"{article(value.dtype)} {value.dtype} tensor {list(value.shape)}"
    if isinstance(value, HeldItems):
        held = ", ".join(map(str, (value.keys or [])[:4]))
        more = f" with {held}" if held else f" of {value.length}"
        return f"a {value.type}{more}"
    if isinstance(value, Module):
        return f"a module ({value.type})"
    if isinstance(value, Held):
        sized = f" {list(value.shape)}" if value.shape is not None else ""
        kind = "function or method" if value.type == "builtin_function_or_method" else value.type
        return f"{article(kind)} {kind}{sized}"
    if type(value) is tuple:
        return f"{list(value)}"
    return f"{'an' if type(value) is int else 'a'} {type(value).__name__} ({value})"


def article(word: str) -> str:
    """`a` or `an`.

    >>> [article(word) for word in ("list", "int", "SGD", "Image")]
    ['a', 'an', 'an', 'an']
    """
    if word == "ndarray":
        return "an"
    spelled = len(word) > 1 and word[:2].isupper()
    return "an" if word[:1].lower() in ("aefhilmnorsx" if spelled else "aeiou") else "a"


def origin_of(crash: Crash, frame: Frame, node: ast.AST, depth: int = 0) -> Made:
    """The expression that made the value of `node`: as far back as it can be followed."""
    here = Made(frame.file, node, frame)
    if depth > _DEEPEST or not isinstance(node, (ast.Name, ast.Attribute)):
        return here
    name = said(node, 200)
    value = frame.value_of(node)
    binding = bound(frame, name, value)
    if binding is not None and binding.value is not None and not _is_itself(binding, name):
        made = Made(binding.file, binding.value, frame, binding, name)
        plain = isinstance(binding.value, (ast.Name, ast.Attribute)) and binding.index is None
        if plain and not isinstance(binding.statement, (ast.For, ast.AsyncFor, ast.With, ast.AugAssign)):
            further = origin_of(crash, frame, binding.value, depth + 1)
            return further if _is_found(further, binding.value) else made
        return _returned(made, value) or made
    given = argument_in(crash, frame, name) if binding is None else None
    if given is not None:
        caller, argument = given
        further = origin_of(crash, caller, argument, depth + 1)
        return further if _is_found(further, argument) else Made(caller.file, argument, caller, None, name)
    option = _option(frame.file, node.attr) if binding is None and isinstance(node, ast.Attribute) else None
    return here if option is None else Made(frame.file, option, frame, None, name)


def _is_found(made: Made, asked: ast.AST) -> bool:
    """Whether the way back led further than the expression that was asked for."""
    return made.binding is not None or made.node is not asked


def _option(file: str, name: str) -> ast.Call | None:
    """The line that adds a command line option of this name."""
    for call in ast.walk(tree_of(file) or ast.Module([], [])):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument":
            flags = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if any(flag.lstrip("-").replace("-", "_") == name for flag in flags):
                return call
    return None


def _returned(made: Made, value: Any, depth: int = 0) -> Made | None:
    """Of a call to a function or method of the same file: the expression behind what it returns."""
    function = _called_in(made.file, made.node)
    if function is None or depth > _DEEPEST:
        return None
    returns = list(values_returned(made.file, function))
    node = returns[0] if len(returns) == 1 else None
    index = None if made.binding is None else made.binding.index
    if index is not None:
        node = node.elts[index] if isinstance(node, ast.Tuple) and index < len(node.elts) else None
    if not isinstance(node, ast.Name):
        found = None if node is None or isinstance(node, ast.Tuple) else Made(made.file, node, made.frame, made.binding)
        return found and (_returned(replace(found, binding=None), value, depth + 1) or found)
    fitting = [one for one in bindings_in(made.file, function, node.id) if not contradicts(one, value)]
    last = fitting[-1] if fitting else None
    if last is None or last.value is None or isinstance(last.statement, (ast.For, ast.AsyncFor, ast.AugAssign)):
        return None
    found = Made(made.file, last.value, made.frame, last, node.id)
    return _returned(found, value, depth + 1) or (found if last.index is None else None)


def given_by_function(crash: Crash) -> Site | None:
    """Where a function of the user's makes what the failing line hands on: `torch.stack(windows(series))`."""
    frame = crash.last
    call = None if frame is None else frame.running
    if frame is None or not isinstance(call, ast.Call):
        return None
    for argument in call.args:
        made = origin_of(crash, frame, argument)
        found = _returned(made, MISSING) if isinstance(made.node, ast.Call) else made
        if (
            found is not None
            and found.site.line not in (frame.line, 0)
            and _called_in(made.file, made.node) is not None
        ):
            return found.site
    return None


def none_returned(file: str, function: ast.FunctionDef | ast.AsyncFunctionDef, depth: int = 0) -> Site | None:
    """The `return None` of a function, or of a function of the file whose result it returns."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and (node.value is None or _is_none(node.value)):
            return node_site(file, node)
    for value in values_returned(file, function) if depth < _DEEPEST else ():
        for call in ast.walk(value) if value is not None else ():
            called = _called_in(file, call)
            found = none_returned(file, called, depth + 1) if called is not None and called is not function else None
            if found is not None:
                return found
    return None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _called_in(file: str, call: ast.AST) -> ast.FunctionDef | None:
    """The function of this file that a call means; a method where only one class has one of that name."""
    if not isinstance(call, ast.Call):
        return None
    if isinstance(call.func, ast.Name):
        found = definition(file, call.func.id)
        return found if isinstance(found, ast.FunctionDef) else None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    named = [one for one in _definitions(file) if isinstance(one, ast.FunctionDef) and one.name == name]
    return named[0] if len(named) == 1 else None


def _is_itself(binding: Binding, name: str) -> bool:
    return binding.index is None and binding.value is not None and said(binding.value, 200) == name


def argument_in(crash: Crash, frame: Frame, name: str) -> tuple[Frame, ast.expr] | None:
    """The caller's expression for a parameter of this frame's function."""
    caller = crash.frame_before(frame)
    call = None if caller is None else caller.running
    if caller is None or name not in frame.arguments or not isinstance(call, ast.Call):
        return None
    if any(isinstance(part, ast.Starred) for part in call.args):
        return None
    method = frame.arguments[:1] in (["self"], ["cls"])
    position = frame.arguments.index(name) - (1 if method else 0)
    given = next((word.value for word in call.keywords if word.arg == name), None)
    if given is None and 0 <= position < len(call.args):
        given = call.args[position]
    return None if given is None else (caller, given)


def bound(frame: Frame, name: str, value: Any = MISSING) -> Binding | None:
    """The binding that gave a name what it holds: the nearest above, of those that can have given it."""
    every = _every_binding(frame, name)
    every = [one for one in every if not isinstance(one.statement, ast.AugAssign)] or every
    fitting = [one for one in every if not contradicts(one, value)]
    above = [one for one in fitting if one.line < frame.line]
    around = [one for one in fitting if one.line >= frame.line]
    return above[-1] if above else around[-1] if around else None


def earlier(frame: Frame, name: str, value: Any) -> Binding | None:
    """A binding of the same name that gives something else than what it holds now: what it was before."""
    return next((one for one in _every_binding(frame, name) if contradicts(one, value)), None)


def _every_binding(frame: Frame, name: str) -> list[Binding]:
    scope = scope_of(frame)
    found = [] if scope is None else bindings_in(frame.file, scope, name)
    tree = tree_of(frame.file)
    if (
        not found
        and tree is not None
        and name.partition(".")[0] not in frame.arguments
        and not name.startswith("self.")
    ):
        found = bindings_in(frame.file, tree, name)
    return found


def contradicts(binding: Binding, value: Any) -> bool:
    """Whether a binding cannot have given this value."""
    if value is MISSING or binding.index is not None:
        return False
    if isinstance(binding.statement, (ast.For, ast.AsyncFor, ast.With, ast.AugAssign)):
        return False
    given = _type_given(binding.value)
    if not given:
        return False
    kinds = value.kind.kinds if isinstance(value, Held) else (type_name(value),)
    if given in _NUMBERS and set(kinds) & _NUMBERS:
        return False
    return given not in kinds and not (isinstance(value, Module) and value.is_a(given))


def _type_given(node: ast.expr | None) -> str:
    """The class of what an expression gives, where its form tells; "" elsewhere."""
    if isinstance(node, ast.Constant):
        return type(node.value).__name__
    literals = {ast.List: "list", ast.ListComp: "list", ast.Dict: "dict", ast.DictComp: "dict", ast.Tuple: "tuple"}
    texts = {ast.JoinedStr: "str", ast.Lambda: "function", ast.Set: "set", ast.SetComp: "set"}
    for kind, name in {**literals, **texts}.items():
        if isinstance(node, kind):
            return name
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _GIVES:
            return _GIVES[called]
        plain = isinstance(node.func, ast.Name) and called not in _NOT_CLASSES
        if plain and isinstance(getattr(builtins, called, None), type):
            return called
        return called if called[:1].isupper() and not called.isupper() else ""
    return ""


@dataclass(frozen=True)
class Rebound:
    """A name that held something else before: where that was given, and what it was."""

    was: str
    site: Site | None


def rebound(frame: Frame, name: str, value: Any) -> Rebound | None:
    """What a name stood for before it was bound to this value: an object, a function, an import, a builtin."""
    before = earlier(frame, name, value)
    if before is not None and before.value is not None:
        return Rebound(f"`{said(before.value, 40)}`", before.site)
    if "." in name:
        return None
    defined = definition(frame.file, name)
    if defined is not None:
        kinds = {ast.ClassDef: "the class", ast.FunctionDef: "the function", ast.AsyncFunctionDef: "the function"}
        kind = kinds.get(type(defined), "the imported module or function")
        return Rebound(f"{kind} `{name}`", node_site(frame.file, defined))
    return Rebound(f"Python's own `{name}`", None) if hasattr(builtins, name) else None


def definition(file: str, name: str) -> ast.stmt | None:
    """The function, class or import that a file's own name stands for."""
    return next((node for node in _definitions(file) if name in _defined(node)), None)


def _definitions(file: str) -> Iterator[ast.stmt]:
    for node in ast.walk(tree_of(file) or ast.Module([], [])):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            yield node


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(one.asname or one.name.partition(".")[0]) for one in node.names]
    return [getattr(node, "name", "")]
