from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.common.units import counted
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.classes import own_class, values_returned
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_NUMBER = re.compile(
    r"[Ff]unction (\w+?)Backward returned an incorrect number of gradients \(expected (\d+), got (\d+)\)"
)
_SHAPE = re.compile(r"[Ff]unction (\w+?)Backward returned an invalid gradient at index (\d+) - (.*)")


@rule("autograd.function-result", severity="error", needs="crash")
def function_result(run: Evidence) -> Iterator[Proof]:
    """The `backward` of an `autograd.Function` returns the wrong number of gradients, or one of the wrong shape.

    Why it matters: autograd expects one gradient for each argument of `forward`, of that argument's shape.

    What to do: return one value for each argument of `forward` after `ctx`; None for those that need no gradient.

    Bad:
        def backward(ctx, grad):             # forward(ctx, x, scale)
            return grad * ctx.scale
    Good:
        def backward(ctx, grad):
            return grad * ctx.scale, None
    """
    crash = run.crash
    if crash is None or not crash.is_a("RuntimeError"):
        return
    number, shape = _NUMBER.search(crash.text), _SHAPE.search(crash.text)
    told = number or shape
    found = None if told is None else own_class(crash, told[1])
    backward = None if found is None else found.methods.get("backward")
    if told is None or found is None or backward is None:
        return
    returned = [one for one in values_returned(found.file, backward) if one is not None]
    forward = found.methods.get("forward")
    names = [] if forward is None else [one.arg for one in forward.args.args[1:]]
    where = node_site(found.file, returned[-1] if returned else backward)
    if number is not None:
        expected, got = int(number[2]), int(number[3])
        more = ", ".join(["None"] * (expected - got))
        fix = f"return one for each of {', '.join(names) or 'its arguments'}"
        yield Proof(
            where=where,
            message=f"backward of {told[1]} returns {counted(got, 'gradient')}, but forward takes {expected} arguments",
            label=f"{got} returned, {expected} needed",
            evidence={"expected": expected, "got": got, "arguments": names},
            fix=f"{fix}: add `, {more}` for those without a gradient" if more else fix,
            related=[(crash.site, "backward runs from here")],
        )
        return
    at = int(told[2])
    name = names[at] if at < len(names) else f"argument {at}"
    yield Proof(
        where=where,
        message=f"backward of {told[1]} returns a gradient for `{name}` that does not fit it: {told[3]}",
        label=f"the gradient of `{name}` must have its shape",
        evidence={"argument": name, "said": told[3]},
        fix=f"return a gradient of the shape of `{name}` (sum over the axes that were broadcast)",
        related=[(crash.site, "backward runs from here")],
    )
