from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

from stepscope.diagnose import edits
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SAYS = re.compile(r"value cannot be converted to type (?:\w+::)?(\w+) without overflow")
_LIMITS = {
    "Half": ("float16", 65504.0),
    "uint8_t": ("uint8", 255.0),
    "int8_t": ("int8", 127.0),
    "int16_t": ("int16", 32767.0),
    "short": ("int16", 32767.0),
    "int": ("int32", 2147483647.0),
}


@rule("dtype.too-large", severity="error", needs="crash")
def too_large(run: Evidence) -> Iterator[Proof]:
    """A number is written into a tensor whose type cannot hold it, such as -1e9 into float16.

    Why it matters: float16 ends at 65504, and autocast turns scores into float16 even if the model is float32.

    What to do: use the smallest number of the tensor's own type, `torch.finfo(scores.dtype).min`, or `float("-inf")`.

    Bad:
        scores = scores.masked_fill(mask, -1e9)
    Good:
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
    """
    crash = run.crash
    told = None if crash is None else _SAYS.search(crash.text)
    if crash is None or crash.last is None or told is None:
        return
    name, limit = _LIMITS.get(told[1], (told[1], 0.0))
    found = _number(crash.last, limit)
    tensor = next((text for text, held in crash.operands if held.dtype == name), "the tensor")
    text = "a number" if found is None else f"{found[1]:g}"
    better = "" if found is None or tensor == "the tensor" or name != "float16" else _extreme(tensor, found[1])
    ends = f": the largest number there is {limit:g}" if limit else ""
    yield Proof(
        where=crash.site,
        message=f"{text} does not fit into `{tensor}`, which is {name}{ends}",
        label=f"{tensor} is {name}",
        evidence={"type": name, "limit": limit, "value": None if found is None else found[1]},
        edit=edits.replace(node_site(crash.last.file, found[0]), better) if better and found is not None else None,
        fix=f"use the limit of its own type: {better}" if better else _wider(crash, tensor, name),
    )


def _number(frame: Frame, limit: float) -> tuple[ast.AST, float] | None:
    """The number on the failing line that is too large."""
    for node in ast.walk(frame.running or ast.Pass()):
        value = frame.value_of(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        with suppress(ValueError, TypeError, SyntaxError):
            value = ast.literal_eval(node) if isinstance(node, (ast.Constant, ast.UnaryOp)) else value
        if isinstance(value, (int, float)) and limit < abs(value):
            return node, value
    return None


def _extreme(tensor: str, value: float) -> str:
    return f"torch.finfo({tensor}.dtype).{'min' if value < 0 else 'max'}"


def _wider(crash: Crash, tensor: str, name: str) -> str:
    wider = "float32, with .float()," if name == "float16" else "int64, with .long(),"
    return f"turn {tensor} into {wider} first, or use a smaller number"
