from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.called import called_code
from stepscope.diagnose.crash.classes import function_in, values_returned
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.no_gradient import no_gradient
from stepscope.diagnose.crash.suspects import Suspect, suspect_of
from stepscope.diagnose.crash.value_origin import Made, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_IN_PLACE = frozenset(
    ("append", "extend", "insert", "remove", "sort", "reverse", "clear", "update", "shuffle", "add", "discard", "print",
     "backward", "zero_grad", "seed", "setdefault_", "close", "write_", "mkdir", "makedirs")
)  # fmt: skip
_LOOKUPS = frozenset(("get", "match", "search", "fullmatch", "getenv"))


@rule(
    "api.none-result",
    severity="error",
    needs="crash",
    is_symptom=True,
    follows=("name.rebound", "loss.*", "autograd.*", "opt.*", "data.*"),
)
def none_result(run: Evidence) -> Iterator[Proof]:
    """None is used as if it were a value: a function does not return anything, or a method changes things in place.

    Why it matters: a Python function without `return` gives None, and so do `list.append`, `list.sort` and
    `random.shuffle`. The line that fails is only where the None is used.

    What to do: return the value, or do not assign what an in-place method gives.

    Bad:
        def forward(self, x):
            x = self.fc(x)
    Good:
        def forward(self, x):
            return self.fc(x)
    """
    crash = run.crash
    suspect = None if crash is None else suspect_of(crash)
    if crash is None or suspect is None or suspect.kind != "NoneType":
        return
    made = origin_of(crash, suspect.frame, suspect.node)
    gradient = no_gradient(crash, suspect)
    if gradient is not None:
        yield gradient
        return
    if made.binding is None and isinstance(suspect.node, ast.Attribute):
        held = origin_of(crash, suspect.frame, suspect.node.value)
        if held.binding is not None and isinstance(held.node, ast.Call):
            yield _part_of(crash, suspect, held)
            return
    yield _explained(crash, suspect, made)


def _explained(crash: Crash, suspect: Suspect, made: Made) -> Proof:
    used = [(suspect.frame.site, "None is used here")]
    node = made.node
    code = called_code(crash, made.frame, node)
    function = None if code is None else function_in(code.file, code.name, code.first_line)
    if code is not None and function is not None:
        returned = list(values_returned(code.file, function))
        given = [one for one in returned if one is not None and not _is_none(one)]
        if not returned:
            where, said_, fix = node_site(code.file, function), "has no `return`", "return its result"
        elif not given:
            where, said_, fix = node_site(code.file, function), "returns None on every path", "return its result"
        else:
            where, said_ = (
                node_site(code.file, function),
                "returns None on the path taken: it ends without `return`",
            )
            fix = "return a value on every path, or raise an error"
        return Proof(
            where=where,
            message=f"`{code.name}` {said_}",
            label="nothing is returned" if not given else "not every path returns",
            evidence={"function": code.name, "used_as": suspect.text},
            fix=f"{fix} at the end of `{code.name}`" if not given else fix,
            related=used,
        )
    called = _called_name(node)
    same = made.site == suspect.frame.site
    if called in _IN_PLACE:
        return Proof(
            where=made.site,
            message=f"`{made.text}` gives None: `{called}` works in place",
            label="this is None",
            evidence={"call": made.text},
            fix=f"call it on a separate line, without assigning its result ({_better(called, node)})",
            related=[] if same else used,
        )
    if called in _LOOKUPS:
        what = "there is nothing under that key" if called in ("get", "getenv") else "the pattern does not match"
        return Proof(
            where=made.site,
            message=f"`{made.text}` gave None: {what}",
            label="this is None",
            evidence={"call": made.text},
            fix="give a default, or check for None before it is used",
            related=[] if same else used,
        )
    return Proof(
        where=made.site,
        message=f"`{suspect.text}` is None" + ("" if made.text == suspect.text else f": it was made by `{made.text}`"),
        label="this is None",
        evidence={"name": suspect.text, "made_by": made.text},
        fix=f"give `{suspect.text}` a value before {_use(suspect)}",
        related=[] if same else used,
    )


def _part_of(crash: Crash, suspect: Suspect, held: Made) -> Proof:
    """`out.loss` is None: what made `out` left it out, perhaps because an argument was not given."""
    code = called_code(crash, held.frame, held.node)
    function = None if code is None else function_in(code.file, code.name, code.first_line)
    optional = [] if function is None else _not_given(function, held.node)
    why = f", which was not given {' or '.join(f'`{one}`' for one in optional[:3])}" if optional else ""
    return Proof(
        where=held.site,
        message=f"`{suspect.text}` is None after `{held.text}`{why}",
        label=f"leaves `{suspect.text}` empty",
        evidence={"name": suspect.text, "made_by": held.text, "not_given": optional},
        fix=f"pass `{optional[0]}=` here, so that it is computed"
        if optional
        else "pass what this call needs to compute it",
        related=[(suspect.frame.site, "None is used here")],
    )


def _not_given(function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.AST) -> list[str]:
    """The parameters that are None because the call did not give them."""
    if not isinstance(call, ast.Call):
        return []
    names = [one.arg for one in function.args.args if one.arg != "self"]
    defaults = function.args.defaults
    without = names[len(names) - len(defaults) :]
    empty = [name for name, default in zip(without, defaults, strict=True) if _is_none(default)]
    given = {*names[: len(call.args)], *(word.arg for word in call.keywords)}
    return [name for name in empty if name not in given]


def _use(suspect: Suspect) -> str:
    return f"its `.{suspect.name}` is used" if suspect.name else f"line {suspect.frame.line} uses it"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _called_name(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _better(called: str, node: ast.AST) -> str:
    if called == "sort" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return f"or use sorted({said(node.func.value)})"
    return f"`{said(node, 40)}`"
