from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.custom_functions import CustomFunction, CustomFunctions
from stepscope.records.step import Site


@rule("autograd.wrong-backward", severity="error")
def wrong_backward(run: Evidence) -> Iterator[Proof]:
    """The `backward` of an `autograd.Function` does not return the derivative of its `forward`.

    Why it matters: autograd trusts what `backward` returns. Every layer below gets a wrong gradient, and the training
    is slower, or ends somewhere else, without any error.

    What to do: return `grad_output` times the local derivative; check it with `torch.autograd.gradcheck` in float64.

    How it is found: on the inputs of the training, in a copy of the process, the gradient is compared with finite
    differences of `forward` along a few directions. Functions that are an identity or flat in the forward pass
    (gradient reversal, straight-through rounding) are left alone: their gradient differs on purpose.

    Bad:
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 2 * x
    Good:
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return grad_output * 2 * x
    """
    for found in run[CustomFunctions].wrong:
        if found.ignores_output_gradient:
            message = f"backward of {found.name} does not use the gradient it is given (the chain rule is missing)"
            fix = "multiply the result with backward's second argument: return grad_output * local"
        else:
            message = (
                f"backward of {found.name} is not the derivative of its forward: along one direction the output "
                f"changes by {found.slope:.4g}, and backward says {found.gradient:.4g}"
            )
            fix = "derive it again from forward, and test it with torch.autograd.gradcheck (in float64)"
        yield Proof(
            where=_returned(run, found),
            message=message,
            label="every layer below gets a wrong gradient",
            evidence={"function": found.name, "finite_difference": found.slope, "backward": found.gradient},
            fix=fix,
            related=[(found.place, "applied here")],
        )


def _returned(run: Evidence, found: CustomFunction) -> Site:
    """The last `return` of its backward."""
    file = run.source.file(found.backward.file)
    if file is None:
        return found.backward
    for function in file.walk(ast.FunctionDef):
        if function.name == found.backward.function and _first_line(function) == found.backward.line:
            returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
            return file.site(returns[-1]) if returns else found.backward
    return found.backward


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])
