from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose import edits
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.frames import MISSING, Frame, several, type_name
from stepscope.diagnose.crash.value_origin import describe
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor

_SAYS = (
    re.compile(r"unsupported format string passed to (\w+)\.__format__"),
    re.compile(r"Unknown format code '.' for object of type '(\w+)'"),
    re.compile(r"must be real number, not (\w+)"),
)


@rule("api.wrong-format", severity="error", needs="crash", is_symptom=True, follows=("api.none-result",))
def wrong_format(run: Evidence) -> Iterator[Proof]:
    """A text such as `f"{loss:.4f}"` formats a value as a number that is not one number.

    Why it matters: `:.4f` takes a single number. A list, None, text or a tensor with several values cannot be printed
    that way, so a log line ends the training.

    What to do: reduce it to one number first: `loss.item()`, `sum(losses) / len(losses)`; or leave the format out.

    Bad:
        print(f"loss {losses:.4f}")
    Good:
        print(f"loss {sum(losses) / len(losses):.4f}")
    """
    crash = run.crash
    frame = None if crash is None else crash.last
    told = None if crash is None else next((found for one in _SAYS if (found := one.search(crash.text))), None)
    if crash is None or frame is None or told is None or not crash.is_a("TypeError", "ValueError"):
        return
    node = _formatted(frame, told[1])
    if node is None:
        return
    value = frame.value_of(node)
    kind = f"a {told[1]}" if value is MISSING else describe(value)
    better = _number_of(said(node), value, told[1])
    yield Proof(
        where=node_site(frame.file, node),
        message=f"`{said(node)}` is {kind}, and it is printed as one number",
        label="not one number",
        evidence={"value": said(node), "type": told[1]},
        edit=edits.replace(node_site(frame.file, node), better) if better else None,
        fix=f"print one number, {better}, or leave the format out: {{{said(node)}}}"
        if better
        else f"leave the format out, {{{said(node)}}}, or print something that is always a number",
    )


def _formatted(frame: Frame, kind: str) -> ast.expr | None:
    """The expression with a format whose value has the type that the message names."""
    parts = [part for part in ast.walk(frame.running or ast.Pass()) if isinstance(part, ast.FormattedValue)]
    nodes = [part.value for part in parts if part.format_spec is not None]
    known = [node for node in nodes if type_name(frame.value_of(node)) == kind]
    unknown = [node for node in nodes if frame.value_of(node) is MISSING]
    return known[0] if known else unknown[0] if len(unknown) == 1 else None


def _number_of(text: str, value: object, kind: str) -> str:
    items = several(value)
    if items and all(isinstance(one, (int, float)) or _is_scalar(one) for one in items):
        return f"sum({text}) / len({text})"
    if isinstance(value, HeldTensor):
        return f"{text}.mean().item()" if value.is_floating else f"{text}.float().mean().item()"
    if kind == "ndarray":
        return f"{text}.mean()"
    return f"float({text})" if kind == "str" else ""


def _is_scalar(value: object) -> bool:
    return isinstance(value, HeldTensor) and value.ndim == 0
