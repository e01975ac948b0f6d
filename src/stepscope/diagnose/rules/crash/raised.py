from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import MISSING, Frame
from stepscope.diagnose.crash.given import given_line
from stepscope.diagnose.crash.hidden_state import hanging_line
from stepscope.diagnose.crash.proved import alternatives, repairs_of
from stepscope.diagnose.crash.value_origin import argument_in, describe, given_by_function, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.stored.known_errors import ERRORS
from stepscope.diagnose.stored.known_message import Known, known
from stepscope.records.step import Site

_MOST = 4
_QUIET = ("KeyboardInterrupt", "SystemExit", "GeneratorExit")


_FOLLOWS = ("crash.one-change", "data.drop-last-tiny", "dist.*")


@rule("crash.raised", severity="error", needs="unexplained", follows=_FOLLOWS)
def raised(run: Evidence) -> Iterator[Proof]:
    """An exception ended the script, and no other rule knows its cause.

    Why it matters: the run is not complete.

    What to do: compare the values involved, which are listed, with what the line needs.

    How it is found: the innermost line of your own code, or, where your own code raised the error because of an
    argument, the line that passed it. The values on that line are described, with the places where they were made.

    Bad:
        make_optimizer("adamw")             # raises ValueError: unknown optimizer
    Good:
        make_optimizer("adam")
    """
    crash = run.crash
    if crash is None or crash.last is None or crash.is_a(*_QUIET):
        return
    if crash.says(r"connection (closed|reset) by peer|broken pipe"):  # another process failed; that one tells why
        return
    frame, blamed = _blamed(crash)
    first = crash.text.strip().partition("\n")[0] if crash.worker is None else crash.text.strip().rpartition("\n")[2]
    told = f"{crash.type}: {first[:200]}" if first else crash.type
    meaning = known(f"{crash.type}: {crash.text}", ERRORS)
    parts, places = _took_part(crash, frame)
    if meaning is not None and meaning.value:
        places = [one for one in places if not parts[one[1].split("`")[1]].startswith("a module")]
    where = places[0][0] if meaning is not None and meaning.value and len(places) == 1 else frame.site
    if meaning is not None and meaning.value:
        where = given_by_function(crash) or where
    if meaning is not None and meaning.argument:
        where = given_line(run.source, crash, meaning.argument) or where
    if meaning is not None and meaning.parameter:
        where = _defined_with(run, crash, meaning) or where
    if crash.says(r"support the deepcopy protocol"):
        where = hanging_line(crash) or where
    if where.line != frame.site.line:
        places = [(frame.site, "it fails here")]
    said_, fix = told, _fix(crash, frame, blamed)
    if meaning is not None:
        said_, fix = meaning.filled(f"{crash.type}: {crash.text}", _names(crash, frame))
    tried = [] if blamed else repairs_of(run)
    if tried:
        fix = alternatives(tried)
    yield Proof(
        where=where,
        message=said_,
        label="; ".join(f"{name}: {what}" for name, what in parts.items())[:200]
        or ("raised from here" if where.line == frame.site.line else "the cause is here"),
        evidence={"error": told, "function": frame.function, "values": parts},
        fix=fix.replace("SCRIPT", os.path.basename(crash.own[0].file)),
        related=[*([(crash.site, "raised here")] if blamed else []), *places][:3],
    )


def _names(crash: Crash, frame: Frame) -> dict[str, str]:
    """What stands on the failing line: the tensor it works on, and the first argument of its call."""
    call = frame.running if isinstance(frame.running, ast.Call) else None
    args = [said(one) for one in call.args] if call is not None else []
    method = said(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else "x"
    names = [name for name, _ in crash.operands if not name.startswith("argument ")]
    turned = f"{said(call.func)}({args[1]}, {args[0]})" if call is not None and len(args) > 1 else ""
    return {
        "tensor": names[0] if names else method,
        "argument": args[0] if args else "tensors",
        "turned": turned,
        "looped": said(frame.running.iter) if isinstance(frame.running, ast.For) else "it",
        "indexed": said(frame.running.value) if isinstance(frame.running, ast.Subscript) else "it",
    }


def _defined_with(run: Evidence, crash: Crash, meaning: Known) -> Site | None:
    """The one `forward` that has the parameter of which the message speaks, without an annotation."""
    told = meaning.pattern.search(crash.text)
    found = [
        file.site(function)
        for file in run.source.files()
        for function in file.walk(ast.FunctionDef)
        for one in function.args.args
        if told is not None and one.arg == told["name"] and one.annotation is None and function.name == "forward"
    ]
    return found[0] if len(found) == 1 else None


def _blamed(crash: Crash) -> tuple[Frame, bool]:
    """The frame to look at: that of the caller, where the user's own code refused an argument."""
    frame = crash.last
    assert frame is not None
    node = _statement(frame)
    if frame is not crash.frames[-1] or not isinstance(node, (ast.Raise, ast.Assert)):
        return frame, False
    tested = _tested(frame, node)
    for name in tested:
        given = argument_in(crash, frame, name)
        if given is not None:
            return given[0], True
    return frame, False


def _statement(frame: Frame) -> ast.stmt | None:
    from stepscope.common.syntax import statement_at

    return statement_at(frame.file, frame.line)


def _tested(frame: Frame, node: ast.stmt) -> list[str]:
    """The names in the condition of an `assert`, or of the `if` around a `raise`."""
    from stepscope.common.syntax import parents_of

    condition: ast.AST | None = node.test if isinstance(node, ast.Assert) else None
    holder = parents_of(frame.file).get(node)
    if condition is None and isinstance(holder, ast.If):
        condition = holder.test
    found = [] if condition is None else [one.id for one in ast.walk(condition) if isinstance(one, ast.Name)]
    return list(dict.fromkeys(found))


def _took_part(crash: Crash, frame: Frame) -> tuple[dict[str, str], list[tuple[Site, str]]]:
    """The values of the expression that was running, and where they were made."""
    values: dict[str, str] = {}
    places: list[tuple[Site, str]] = []
    for node in _expressions(frame.running):
        name, value = said(node), frame.value_of(node)
        if value is MISSING or name in values or len(values) >= _MOST:
            continue
        values[name] = describe(value)
        made = origin_of(crash, frame, node)
        if made.binding is not None and made.site.line != frame.line:
            places.append((made.site, f"`{name}` is made here"))
    return values, places


def _expressions(node: ast.AST | None) -> Iterator[ast.expr]:
    """The names and attributes of an expression, the longest of each chain."""
    if node is None:
        return
    if isinstance(node, (ast.Name, ast.Attribute)):
        yield node
        return
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            yield from _expressions(node.func.value)
        for part in (*node.args, *(word.value for word in node.keywords)):
            yield from _expressions(part)
        return
    if isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.If, ast.While, ast.FunctionDef, ast.ClassDef)):
        node = getattr(node, "iter", None) or getattr(node, "test", None)
        if node is not None:
            yield from _expressions(node)
        return
    for child in ast.iter_child_nodes(node):
        yield from _expressions(child)


def _fix(crash: Crash, frame: Frame, blamed: bool) -> str:
    if blamed:
        return f"pass a value that `{crash.own[-1].function}` accepts, or let it accept this one"
    return "compare the values on this line with what it needs; `stepscope run --pdb` stops here to look at them"
