"""Names that a script's own source gives to values: `errD_real.backward()` is of `errD_real`."""

from __future__ import annotations

import ast
import linecache
import re
from functools import lru_cache

_READS = frozenset(
    ("item", "detach", "cpu", "numpy", "mean", "sum", "float", "tolist", "clone", "double", "data", "scale")
)
_CASTS = frozenset(("float", "int", "round", "str", "format", "abs"))
_LONGEST = 40


def name_of(node: ast.expr) -> str:
    """What people would call the value of an expression.

    >>> texts = ("loss.item()", "round(err, 3)", "a['x']", "2 * a", "self.d_loss")
    >>> [name_of(ast.parse(text, mode="eval").body) for text in texts]
    ['loss', 'err', 'x', '2 * a', 'd_loss']
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        return node.slice.value
    if isinstance(node, ast.Attribute):
        return name_of(node.value) if node.attr in _READS else node.attr
    if isinstance(node, ast.Call):
        return _name_of_call(node)
    return ast.unparse(node)[:_LONGEST]


def _name_of_call(node: ast.Call) -> str:
    called = node.func
    if isinstance(called, ast.Attribute) and called.attr == "scale" and node.args:  # a gradient scaler's
        return name_of(node.args[0])
    if isinstance(called, ast.Attribute) and called.attr in _READS:
        return name_of(called.value)
    if isinstance(called, ast.Name) and called.id in _CASTS and node.args:
        return name_of(node.args[0])
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ast.unparse(node)[:_LONGEST]


@lru_cache(maxsize=64)
def nodes_in(path: str) -> tuple[ast.AST, ...]:
    try:
        return tuple(ast.walk(ast.parse("".join(linecache.getlines(path)))))
    except (SyntaxError, ValueError, RecursionError):
        return ()


@lru_cache(maxsize=64)
def _calls_in(path: str) -> tuple[ast.Call, ...]:
    return tuple(node for node in nodes_in(path) if isinstance(node, ast.Call))


@lru_cache(maxsize=64)
def loop_variables(path: str) -> frozenset[str]:
    """The names that `for` statements of a file assign: their meaning changes during the loop."""
    targets = [node.target for node in nodes_in(path) if isinstance(node, ast.For)]
    return frozenset(part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))


def makes_several_optimizers(path: str) -> bool:
    """Whether a file has several calls that look like `torch.optim.Adam(model.parameters())`."""
    made = [call for call in _calls_in(path) if call.args and "parameters" in ast.unparse(call.args[0])]
    return (
        sum(re.search(r"optim\.|Adam|SGD|RMSprop|Ada|Optimizer", ast.unparse(call.func)) is not None for call in made)
        > 1
    )


def assigned_name(path: str, line: int) -> str | None:
    """The variable or attribute that the value made on a line is assigned to, if there is one only."""
    for node in nodes_in(path):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            target = node.targets[0]
            value = node.value
            while (
                isinstance(value, ast.Call)
                and isinstance(value.func, ast.Attribute)
                and value.func.attr in _READS | {"to", "cuda", "train"}
            ):
                value = value.func.value  # Generator().to(device)
            if isinstance(target, ast.Name | ast.Attribute) and isinstance(value, ast.Call):
                return name_of(target)
    return None


def _calls_at(path: str, line: int) -> list[ast.Call]:
    """The calls around a line, the shortest first."""
    around = [one for one in _calls_in(path) if one.lineno <= line <= (one.end_lineno or one.lineno)]
    return sorted(around, key=lambda one: (one.end_lineno or one.lineno) - one.lineno)


@lru_cache(maxsize=512)
def loss_name(path: str, line: int) -> str | None:
    """What the loss of the `backward` on that line is called; None where the source does not say."""
    for call in _calls_at(path, line):
        if not isinstance(call.func, ast.Attribute) or "backward" not in call.func.attr:
            continue
        is_method = not call.args or (call.func.attr == "backward" and not _is_helper(call.func.value))
        name = name_of(call.func.value if is_method else call.args[0])
        return name if re.fullmatch(r"\w+", name) else None
    return None


def _is_helper(node: ast.expr) -> bool:
    """`accelerator.backward(loss)`, `fabric.backward(loss)`, `torch.autograd.backward(loss)`."""
    return re.search(r"accelerator|fabric|engine|autograd|manual|self$", ast.unparse(node)) is not None


@lru_cache(maxsize=512)
def _printed_at(path: str, line: int) -> tuple[re.Pattern[str], tuple[str, ...]] | None:
    for call in _calls_at(path, line):
        if _prints(call.func) and call.args:
            parts = [_pattern_of(argument) for argument in call.args]
            pattern = r"\s*".join(pattern for pattern, _ in parts)
            names = tuple(name for _, found in parts for name in found)
            return re.compile(rf"\s*{pattern}\s*"), names
    return None


_SPELLED = re.compile(r"(?<![\w.:%-])\d+(?![\w.])")
"""An integer between words; not the width in `{:5.2f}` and `%5.2f`."""


@lru_cache(maxsize=512)
def literal_integers(path: str, line: int) -> frozenset[str]:
    """The integers that the strings of the call on that line spell out: 10000 in `"on the 10000 test images"`."""
    calls = _calls_at(path, line)
    texts = [node.value for node in ast.walk(calls[0]) if isinstance(node, ast.Constant)] if calls else []
    return frozenset(number for text in texts if isinstance(text, str) for number in _SPELLED.findall(text))


def _prints(called: ast.expr) -> bool:
    """`print(...)`, `accelerator.print(...)`, `tqdm.write(...)`."""
    if isinstance(called, ast.Attribute):
        return called.attr in ("print", "write")
    return isinstance(called, ast.Name) and called.id == "print"


def _printed_name(node: ast.expr) -> str:
    """`100 * accuracy` is the accuracy in percent."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        sides = [one for one in (node.left, node.right) if not isinstance(one, ast.Constant)]
        if len(sides) == 1:
            return name_of(sides[0])
    return name_of(node)


def _pattern_of(node: ast.expr) -> tuple[str, list[str]]:
    if isinstance(node, ast.Constant):
        return re.escape(str(node.value).strip()), []
    if (template := _template_of(node)) is not None:
        return _pattern_of_template(*template)
    if not isinstance(node, ast.JoinedStr):
        return r"(\S+)", [_printed_name(node)]
    pieces, names = [], []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            pieces.append(r"\s*(\S+?)")
            names.append(_printed_name(value.value))
        elif isinstance(value, ast.Constant):
            pieces.append(_spaced(str(value.value)))
    return "".join(pieces), names


_PERCENT = re.compile(r"%(?P<name>\(\w+\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[a-zA-Z]|%%")
_BRACES = re.compile(r"\{(?P<name>\w*)(?:![rsa])?(?::[^{}]*)?\}|\{\{|\}\}")


def _template_of(node: ast.expr) -> tuple[str, re.Pattern[str], list[ast.expr]] | None:
    """The string, its placeholders and the values in their order, of `"..." % (...)` and `"...".format(...)`."""
    text: object
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
        text, placeholders = node.left.value, _PERCENT
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text, placeholders = getattr(node.func.value, "value", None), _BRACES
        values = list(node.args)
    else:
        return None
    if not isinstance(text, str):
        return None
    found = [one for one in placeholders.finditer(text) if _is_filled(one)]
    is_plain = not any(one["name"] for one in found) and not any(isinstance(one, ast.Starred) for one in values)
    return (text, placeholders, values) if is_plain and len(found) == len(values) > 0 else None


def _is_filled(placeholder: re.Match[str]) -> bool:
    return placeholder[0] not in ("%%", "{{", "}}")


def _pattern_of_template(text: str, placeholders: re.Pattern[str], values: list[ast.expr]) -> tuple[str, list[str]]:
    pieces, done = [], 0
    for one in placeholders.finditer(text):
        pieces.append(_spaced(text[done : one.start()]))
        is_text = one[0].endswith("s") or one[0] == "{}"
        pieces.append((r"\s*(.+?)" if is_text else r"\s*(\S+?)") if _is_filled(one) else re.escape(one[0][0]))
        done = one.end()
    return "".join([*pieces, _spaced(text[done:])]), [_printed_name(value) for value in values]


def _spaced(text: str) -> str:
    words = r"\s*".join(map(re.escape, text.split()))
    return rf"\s*{words}\s*" if words else r"\s+" if text else ""


def printed_names(path: str, line: int, text: str) -> dict[str, float]:
    """The numbers with a decimal point in a printed line, by what the `print` on that line of the source is given."""
    known = _printed_at(path, line)
    found = None if known is None else known[0].fullmatch(text)
    if known is None or found is None:
        return {}
    named: dict[str, float] = {}
    for name, value in zip(known[1], found.groups(), strict=True):
        if re.fullmatch(r"[-+]?\d*\.\d+(?:e[-+]?\d+)?", value):
            named[f"{name} (2)" if name in named else name] = float(value)
    return named
