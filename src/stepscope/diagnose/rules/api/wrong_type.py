from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from stepscope.common.syntax import said
from stepscope.diagnose import edits
from stepscope.diagnose.crash.batch_parts import parts_of
from stepscope.diagnose.crash.crash import Crash, running_loader
from stepscope.diagnose.crash.frames import MISSING, several, type_name
from stepscope.diagnose.crash.suspects import Suspect, suspect_of
from stepscope.diagnose.crash.value_origin import Made, article, describe, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import Held, HeldItems, HeldLoader
from stepscope.evidence.modules import Module

_USES = {
    "is not callable": "called like a function",
    "is not iterable": "looped over",
    "is not subscriptable": "indexed",
    "has no len": "used as if it had a length",
    "cannot be interpreted as an integer": "used as an integer",
    "does not support item": "written into",
    "must be tuple of ints": "used as a size",
    "must be": "passed where a tensor is needed",
    "unsupported operand": "used in arithmetic",
    "not supported": "compared with a number",
    "slice indices must be integers": "used as an index",
    "unpack": "unpacked",
    "to": "joined with + to text or a list",
    "is compared": "compared with a tensor, which gives a plain True or False",
    "multiply": "multiplied with a list",
    "got": "passed where an array is needed",
}
_WHOLE = ("cannot be interpreted as an integer", "must be tuple of ints", "slice indices must be integers")


@rule(
    "api.wrong-type",
    severity="error",
    needs="crash",
    is_symptom=True,
    follows=(
        *(
            "name.rebound",
            "name.no-attribute",
            "api.none-result",
            "api.return-tuple",
            "api.missing-method",
            "api.no-super-init",
        ),
        *("api.wrong-arguments", "loss.*", "data.*", "autograd.*", "opt.*", "dtype.*", "shape.*"),
    ),
)
def wrong_type(run: Evidence) -> Iterator[Proof]:
    """A value of the wrong type reaches an operation: text for a number, a list for a tensor, a method not called.

    Why it matters: the operation fails where the value is used; the mistake is where it was made.

    What to do: convert the value where it is made: `int(...)`, `float(...)`, `torch.stack(...)`; index with brackets;
    add the missing parentheses.

    How it is found: the expression on the failing line whose value has the type that the error names, followed back
    through assignments and arguments to the expression that made it.

    Bad:
        half = len(data) / 2
        train = data[:half]
    Good:
        half = len(data) // 2
        train = data[:half]
    """
    crash = run.crash
    suspect = None if crash is None else suspect_of(crash)
    if crash is None or suspect is None or suspect.kind == "NoneType":
        return
    texts = _texts(crash, suspect)
    if texts is not None:
        yield texts
        return
    made = origin_of(crash, suspect.frame, suspect.node)
    use = f"used as if it had `.{suspect.name}`" if suspect.name else _USES.get(suspect.what, "used here")
    is_value = suspect.value is not MISSING
    word = "method" if suspect.kind == "builtin_function_or_method" else suspect.kind
    kind = describe(suspect.value) if is_value else f"{article(word)} {word}"
    same = made.site.file == suspect.frame.file and made.site.line == suspect.frame.line
    where, fix = made.site, _fix(suspect, made)
    if fix and _is_at_use(suspect, made):
        made, same, where = Made(suspect.frame.file, suspect.node, suspect.frame), True, suspect.frame.site
    looped = made.binding is not None and isinstance(made.binding.statement, (ast.For, ast.AsyncFor))
    if looped and fix == "":
        where, same = suspect.frame.site, True
    written = _yaml_line(run, suspect)
    if written is not None:
        yield _yaml_number(suspect, *written)
        return
    yield Proof(
        where=where,
        message=f"`{suspect.text}` is {kind}, and it is {use}",
        label=f"{kind} is made here" if not same else kind,
        evidence={"value": suspect.text, "type": suspect.kind, "made_by": made.text},
        edit=_option_typed(suspect, made),
        fix=fix or f"give {_needed(suspect)} instead of {kind}",
        related=[] if same else [(suspect.frame.site, f"it is {use} here")],
    )


def _yaml_line(run: Evidence, suspect: Suspect) -> tuple[str, int, str] | None:
    """The line of YAML, in a text of the script, that sets an entry to `1e-3`: YAML asks for a dot in such a number."""
    node = suspect.node
    key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else ""
    key = node.attr if isinstance(node, ast.Attribute) else key
    if suspect.kind != "str" or not isinstance(key, str) or not key:
        return None
    setting = re.compile(rf"^\s*{re.escape(key)}:\s*([+-]?\d+[eE][+-]?\d+)\s*(#.*)?$")
    found = [
        (file.path, node.lineno + number, match[1])
        for file in run.source.files()
        for node in file.walk(ast.Constant)
        if isinstance(node.value, str) and "\n" in node.value
        for number, line in enumerate(node.value.split("\n"))
        if (match := setting.match(line))
    ]
    return found[0] if len(found) == 1 else None


def _yaml_number(suspect: Suspect, file: str, line: int, text: str) -> Proof:
    mantissa, _, exponent = text.lower().partition("e")
    return Proof(
        where=(file, line),
        message=f"YAML reads {text} as text, not as a number: it wants a dot in it",
        label=f"so `{suspect.text}` is the text '{text}'",
        evidence={"value": suspect.text, "type": suspect.kind},
        fix=f"write {mantissa}.0e{exponent if exponent[0] in '+-' else '+' + exponent}",
        related=[(suspect.frame.site, "a number is needed here")],
    )


def _layer_for_function(suspect: Suspect, made: Made) -> str | None:
    """`nn.ReLU(x)`: a layer is made with the tensor as a setting, where it was to be applied to it."""
    node = made.node
    if not isinstance(suspect.value, Module) or not isinstance(node, ast.Call) or not node.args:
        return None
    if suspect.what != "must be" or not suspect.value.is_torchs:
        return None
    return f"make the layer first, then call it: {said(node.func)}()({', '.join(map(said, node.args))})"


def _texts(crash: Crash, suspect: Suspect) -> Proof | None:
    """Text that a loader handed on as it is: class names in the place of a tensor of numbers."""
    items = several(suspect.value)
    loader = running_loader(suspect.frame)
    if not items or loader is None or any(type_name(one) != "str" for one in items):
        return None
    parts = parts_of(loader.dataset)
    site = None if parts is None else parts.site
    return Proof(
        where=site or suspect.frame.site,
        message=f"`{suspect.text}` holds text: a loader makes tensors of numbers only, and hands text on as a list",
        label="one of the parts is text",
        evidence={"value": suspect.text, "type": suspect.kind},
        fix="give each name a number and return that: ids = {name: i for i, name in enumerate(sorted(set(names)))}",
        related=[] if site is None else [(suspect.frame.site, "a tensor is needed here")],
    )


def _is_at_use(suspect: Suspect, made: Made) -> bool:
    """Whether the value is right, and only used in the wrong way: the line to change is the one that uses it."""
    if suspect.kind == "method" and isinstance(made.node, ast.Attribute) and made.node is not suspect.node:
        return False  # a name was bound to a method that was not called
    if _by_key(suspect) or _by_attribute(suspect):
        return True
    if _layer_for_function(suspect, made) is not None:
        return False
    kinds = ("method", "function", "builtin_function_or_method", "Size")
    return suspect.kind in kinds or isinstance(suspect.value, Module) or suspect.name in ("to", "cuda")


def _by_key(suspect: Suspect) -> bool:
    """`config.lr` of a dict that has the key."""
    value = suspect.value
    return isinstance(value, HeldItems) and bool(suspect.name) and suspect.name in (value.keys or ())


def _by_attribute(suspect: Suspect) -> str:
    """`args["lr"]` of an object that has the attribute."""
    node, value = suspect.frame.running, suspect.value
    key = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
    plain = isinstance(value, Held) and not isinstance(value, HeldItems) and suspect.what == "is not subscriptable"
    return key if plain and isinstance(key, str) and key.isidentifier() else ""


def _needed(suspect: Suspect) -> str:
    return {
        "is not callable": "a function or a module",
        "is not iterable": "a list or a loader",
        "must be": "a tensor",
        "must be tuple of ints": "an int",
        "cannot be interpreted as an integer": "an int",
        "slice indices must be integers": "an int",
        "unsupported operand": "a number or a tensor",
        "not supported": "a number",
    }.get(suspect.what, "the type that is needed")


def _is_option(node: ast.AST) -> bool:
    """A command line option: `parser.add_argument("--hidden", default="32")`."""
    return isinstance(node, ast.Call) and said(node.func).endswith("add_argument")


def _number(suspect: Suspect) -> str:
    """The type that the value of an option should have: whole where it is used as a size or looks like one."""
    text = str(suspect.value) if suspect.value is not MISSING else ""
    sized = suspect.what in _WHOLE
    return "int" if sized or text.lstrip("+-").isdigit() else "float"


def _option_typed(suspect: Suspect, made: Made) -> edits.Plan | None:
    """`type=int` for an option without one."""
    node = made.node
    if suspect.kind != "str" or not isinstance(node, ast.Call) or not _is_option(node):
        return None
    if any(word.arg in ("type", "action") for word in node.keywords):
        return None
    return edits.keyword(made.site, "type", _number(suspect))


def _fix(suspect: Suspect, made: Made) -> str:
    """What to type, where the value and its use leave one choice."""
    text, kind, use = suspect.text, suspect.kind, suspect.what
    node: Any = made.node
    if _by_key(suspect):
        return f'take an entry of a dict in brackets: {text}["{suspect.name}"]'
    if attribute := _by_attribute(suspect):
        return f"take it with a dot: {text}.{attribute}"
    index = suspect.frame.running
    if kind in ("method", "builtin_function_or_method") and use == "is not subscriptable":
        inside = said(index.slice) if isinstance(index, ast.Subscript) else ""
        return f"call it, with parentheses: `{text}({inside})`"
    if kind in ("method", "function", "builtin_function_or_method") and use != "is not callable":
        return f"call it: `{made.text if isinstance(node, ast.Attribute) else text}()`"
    if isinstance(suspect.value, Module) and use == "is not iterable":
        return f"pass `{text}.parameters()`"
    if suspect.name in ("to", "cuda") and kind in ("list", "tuple"):
        return f"move each part: `{text} = [part.{suspect.name}(...) for part in {text}]`"
    if suspect.name in ("to", "cuda") and kind == "dict":
        return f"move each part: `{text} = {{key: part.{suspect.name}(...) for key, part in {text}.items()}}`"
    if kind == "Size" and use == "is not callable":
        call = suspect.frame.running
        inside = said(call.args[0]) if isinstance(call, ast.Call) and call.args else "0"
        return f"use brackets: `{text}[{inside}]`"
    if kind == "Tensor" and use == "is not callable":
        return f"index a tensor with brackets: `{text}[...]`"
    if kind == "float" and use in (*_WHOLE, "must be"):
        whole = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        if whole:
            return f"use integer division: `{said(node.left)} // {said(node.right)}`"
        return f"convert it to an integer: `int({made.text})`"
    if kind == "str" and _is_option(node):
        return f"say that the option is a number: add_argument(..., type={_number(suspect)})"
    if kind == "str" and use in ("cannot be interpreted as an integer", "must be tuple of ints"):
        return f"it is text: convert it to a number, `int({text})` (argparse: type=int)"
    if kind == "str" and use in ("not supported", "unsupported operand"):
        return f"it is text: convert it to a number, `float({text})` (in YAML write 1.0e-3, not 1e-3)"
    if use == "to" and kind in ("int", "float", "Tensor"):
        return f"turn it into text, str({text}), or use an f-string; to add it to a list, [{text}]"
    if kind == "list" and use in ("must be", "has no attribute"):
        return f"make one tensor of it: `torch.stack({text})` (or torch.tensor for plain numbers)"
    if kind == "ndarray" and use in ("must be", "has no attribute"):
        return f"make a tensor of it: `torch.from_numpy({text})`"
    if use == "is compared" and kind in ("max", "min", "sort", "topk", "tuple"):
        return f"take the part you need: `{text}[1]` (of max, min, sort and topk these are the indices)"
    if isinstance(suspect.value, HeldLoader):
        return "loop over the loader, and use its batches"
    if (called := _layer_for_function(suspect, made)) is not None:
        return called
    if kind in ("list", "tuple") and use == "is not callable":
        return f"index it with brackets: `{text}[...]`"
    return ""
