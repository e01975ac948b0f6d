from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from stepscope.common.syntax import assigned_names, said
from stepscope.common.units import counted
from stepscope.diagnose import edits
from stepscope.diagnose.crash.batch_parts import Parts, parts_of, parts_returned
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.called import called_code
from stepscope.diagnose.crash.classes import function_in, own_class, values_returned
from stepscope.diagnose.crash.crash import Crash, running_loader
from stepscope.diagnose.crash.frames import MISSING, Frame, several
from stepscope.diagnose.crash.suspects import suspect_of
from stepscope.diagnose.crash.value_origin import bound, describe, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldLoader
from stepscope.records.step import Site

_UNPACK = re.compile(r"(?:not enough|too many) values to unpack \(expected (?:at least )?(\d+)(?:, got (\d+))?\)")


@rule("data.unpack", severity="error", needs="crash")
def unpack(run: Evidence) -> Iterator[Proof]:
    """A batch, or another group of values, is unpacked into the wrong number of names, or into the wrong ones.

    Why it matters: the loop stops at once; or the names hold something else: unpacking a dict gives its keys,
    `enumerate` gives a number and the whole batch.

    What to do: use one name for each part that the dataset returns; take the parts of a dict by their keys; write
    `for i, (x, y) in enumerate(loader)`.

    Bad:
        for x, y in enumerate(loader):
            step(x, y)
    Good:
        for i, (x, y) in enumerate(loader):
            step(x, y)
    """
    crash = run.crash
    if crash is None or crash.last is None or crash.worker is not None:
        return
    told = _UNPACK.search(crash.text) if crash.is_a("ValueError") else None
    if told is not None and crash.frames[-1] is crash.last:
        yield from _wrong_number(crash, crash.last, told)
    elif told is None:
        yield from _wrong_names(crash)


def _wrong_number(crash: Crash, frame: Frame, told: re.Match[str]) -> Iterator[Proof]:
    statement, target = _unpacking(frame)
    names = [] if target is None else list(assigned_names(target))
    loader = running_loader(frame) if isinstance(statement, (ast.For, ast.AsyncFor)) else None
    parts = None if loader is None else parts_of(loader.dataset)
    got = told[2] or ("" if parts is None else str(parts.count))
    held = _held(crash, frame, statement)
    items = several(held)
    returned = None if got else _returned_by(crash, frame, statement)
    got = got or ("" if returned is None else str(len(returned[1])))
    if not got and items is not None and len(items) != int(told[1]):
        got = str(getattr(held, "length", len(items)))
    looped = isinstance(statement, (ast.For, ast.AsyncFor))
    what = "each batch" if loader is not None else f"each item of `{_text(statement)}`" if looped and statement else ""
    what = what or (f"`{_text(statement)}`" if statement is not None else "what comes")
    has = f"has {got} part{'s' * (got != '1')}" if got else f"does not have {told[1]} parts"
    dict_ = parts is not None and bool(parts.keys)
    pair = _counted_pair(target)
    if pair and statement is not None and loader is not None and got == str(len(pair)):
        yield _without_enumerate(frame, statement, said(target), pair)
        return
    yield Proof(
        where=node_site(frame.file, statement) if statement is not None else frame.site,
        message=f"{what} {has}, and it is unpacked into {counted(int(told[1]), 'name')}",
        label=f"{has[4:] if got else has}, {told[1]} names" if loader is not None or got else "",
        evidence={"names": names, "expected": int(told[1]), "got": int(got) if got else None},
        fix=_keys_fix(parts)
        if dict_ and parts is not None
        else _gym_fix(statement, names, got) or _counted_fix(target, pair, got) or _number_fix(names, got),
        related=[(parts.site, "the dataset returns this")]
        if parts is not None and parts.site is not None
        else [(returned[0], "it returns this")]
        if returned is not None
        else [],
    )


def _returned_by(crash: Crash, frame: Frame, statement: ast.stmt | None) -> tuple[Site, list[ast.expr]] | None:
    """The parts that the user's own function or method returns, where each `return` gives as many."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    code = None if call is None else called_code(crash, frame, call)
    function = None if code is None else function_in(code.file, code.name, code.first_line)
    if code is None or function is None:
        return None
    tuples = [one for one in values_returned(code.file, function) if isinstance(one, ast.Tuple)]
    plain = not any(isinstance(part, ast.Starred) for one in tuples for part in one.elts)
    if not tuples or not plain or len({len(one.elts) for one in tuples}) != 1:
        return None
    return node_site(code.file, tuples[0]), tuples[0].elts


def _counted_pair(target: ast.AST | None) -> list[str]:
    """The names of the inner tuple in `for i, (x, y) in ...`."""
    parts = target.elts if isinstance(target, ast.Tuple) else []
    inner = parts[1] if len(parts) == 2 and isinstance(parts[0], ast.Name) else None
    return list(assigned_names(inner)) if isinstance(inner, ast.Tuple) else []


def _without_enumerate(frame: Frame, statement: ast.stmt, target: str, names: list[str]) -> Proof:
    """`for i, (x, y) in loader`: the loader gives batches, nothing numbers them."""
    iterated = _text(statement)
    counter = target.strip("()").partition(",")[0]
    return Proof(
        where=node_site(frame.file, getattr(statement, "iter", statement)),
        message=f"`{iterated}` gives batches of {len(names)} parts without a number: `enumerate` is missing",
        label=f"nothing here gives `{counter}`",
        evidence={"names": [counter, *names], "got": len(names)},
        edit=edits.replace(node_site(frame.file, getattr(statement, "iter", statement)), f"enumerate({iterated})"),
        fix=f"number the batches: for {target.strip('()') if target.count('(') == 1 else target[1:-1]} "
        f"in enumerate({iterated}):",
    )


def _gym_fix(statement: ast.stmt | None, names: list[str], got: str) -> str:
    """`env.step` of Gymnasium gives five values, where that of the old Gym gave four."""
    call = statement.value if isinstance(statement, ast.Assign) else None
    if not isinstance(call, ast.Call) or not said(call.func).endswith(".step") or got != "5" or len(names) != 4:
        return ""
    new = [*names[:2], "terminated", "truncated", names[3]]
    return f"take all five: {', '.join(new)} = {said(call)}; then {names[2]} = terminated or truncated"


def _counted_fix(target: ast.AST | None, pair: list[str], got: str) -> str:
    """`for i, (x, y) in enumerate(loader)` with more than two parts: the counter stays outside."""
    if not isinstance(target, ast.Tuple) or not got or int(got) <= len(pair) or not pair:
        return ""
    inner = ", ".join([*pair, *["_"] * (int(got) - len(pair))])
    return f"take all {got}: `for {said(target.elts[0])}, ({inner}) in ...`"


def _number_fix(names: list[str], got: str) -> str:
    if not got or not names:
        return "use as many names as there are parts"
    count = int(got)
    if count > len(names):
        return f"take all {count}: `{', '.join([*names, *['_'] * (count - len(names))])} = ...`"
    return f"use {counted(count, 'name')}: `{', '.join(names[:count])}`"


def _keys_fix(parts: Parts) -> str:
    return f'take the parts by their keys: batch["{parts.keys[0]}"]'


def _unpacking(frame: Frame) -> tuple[ast.stmt | None, ast.AST | None]:
    from stepscope.common.syntax import statement_at

    node: Any = statement_at(frame.file, frame.line)
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return node, node.target
    if isinstance(node, ast.Assign):
        return node, node.targets[0]
    return None, None


def _held(crash: Crash, frame: Frame, statement: ast.stmt | None) -> Any:
    return frame.value_of(statement.value) if isinstance(statement, ast.Assign) else MISSING


def _text(statement: ast.stmt) -> str:
    return said(getattr(statement, "value", None) or getattr(statement, "iter", None), 40)


def _wrong_names(crash: Crash) -> Iterator[Proof]:
    """Names that hold a dict's keys, or the counter of `enumerate`."""
    suspect = suspect_of(crash)
    if suspect is None or suspect.kind not in ("str", "int", "list", "tuple"):
        return
    made = origin_of(crash, suspect.frame, suspect.node)
    binding = made.binding or bound(suspect.frame, suspect.text, suspect.value)
    statement = None if binding is None else binding.statement
    if not isinstance(statement, (ast.For, ast.AsyncFor)):
        return
    names = list(assigned_names(statement.target))
    flat = isinstance(statement.target, ast.Tuple) and all(isinstance(one, ast.Name) for one in statement.target.elts)
    called = statement.iter.func if isinstance(statement.iter, ast.Call) else None
    counted_ = isinstance(called, ast.Name) and called.id == "enumerate"
    used = [(suspect.frame.site, f"`{suspect.text}` is {describe(suspect.value)} here")]
    if counted_ and flat and len(names) == 2 and isinstance(statement.iter, ast.Call):
        inside = said(statement.iter.args[0]) if statement.iter.args else "loader"
        yield Proof(
            where=node_site(made.file, statement),
            message=f"`enumerate` gives a number and a batch: `{names[0]}` is the number, `{names[1]}` the batch",
            label=f"`{names[0]}` counts the batches",
            evidence={"names": names},
            fix=f"for i, ({', '.join(names)}) in enumerate({inside}):",
            related=used,
        )
        return
    frames = (made.frame, suspect.frame)  # the loop may be in a caller
    known = [*(_loader(frame, statement.iter) for frame in frames), *(running_loader(frame) for frame in frames)]
    loader = next((one for one in known if one is not None), None)
    parts = _parts_made(crash, statement.iter) if loader is None else parts_of(loader.dataset)
    if suspect.kind == "str" and flat and parts is not None and parts.keys:
        yield Proof(
            where=node_site(made.file, statement),
            message=f"each batch is a dict; unpacking it gives its keys: `{suspect.text}` is a string, not a tensor",
            label=f"the keys are {', '.join(parts.keys[:4])}",
            evidence={"names": names, "keys": list(parts.keys)},
            fix=f'for batch in loader: {names[0]} = batch["{parts.keys[0]}"]',
            related=[*used, (parts.site, "the dataset returns a dict")] if parts.site is not None else used,
        )


def _parts_made(crash: Crash, iterated: ast.expr) -> Parts | None:
    """Of a loader that is made in the loop's own line, `for x, y in DataLoader(Rows()):`, by the dataset's class."""
    inner = iterated.args[0] if isinstance(iterated, ast.Call) and iterated.args else None
    name = said(inner.func) if isinstance(inner, ast.Call) else ""
    kind = own_class(crash, name) if name else None
    function = None if kind is None else kind.methods.get("__getitem__")
    return None if kind is None or function is None else parts_returned(kind.file, function)


def _loader(frame: Frame, node: ast.expr) -> HeldLoader | None:
    value = frame.value_of(node)
    return value if isinstance(value, HeldLoader) else None
