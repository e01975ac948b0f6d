from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Parameter

_ENOUGH = 6


@rule("grad.unused-parameter", severity="warning", follows=("grad.detached-needed",))
def unused_parameter(run: Evidence) -> Iterator[Proof]:
    """A parameter is made and given to the optimizer, but nothing uses it.

    Why it matters: it is most likely missing from the forward pass: a position that is never added, a temperature that
    is never multiplied. Under DistributedDataParallel it is an error.

    What to do: use it in `forward`, or remove it.

    How it is found: it never got a gradient and never changed, and no line of the script reads that attribute.

    Bad:
        self.pos = nn.Parameter(torch.zeros(1, 64, 32))
        out = self.layers(tokens)
    Good:
        self.pos = nn.Parameter(torch.zeros(1, 64, 32))
        out = self.layers(tokens + self.pos)
    """
    if run.steps.backward_count < _ENOUGH or not run.over:
        return
    for made in run.optimizers.made:
        if run.steps.count_of(made.number) < _ENOUGH:
            continue
        for parameter in made.parameters:
            if not parameter.alive or not parameter.requires_grad or parameter.has_grad:
                continue
            if parameter.gradients or parameter.changed is not False or run.gradient_flow.cut_of(parameter):
                continue
            yield from _proof(run, parameter)


def _proof(run: Evidence, parameter: Parameter) -> Iterator[Proof]:
    owner = run.models.owner_of(parameter)
    if owner is None or owner[0].is_torchs:
        return  # a layer of torch's that is never called: another rule's
    module = owner[0]
    name = next((n for n, p in module.own.items() if p is parameter), None)
    if name is None:
        return
    made, reads = None, 0
    for file in run.source.files():
        for node in file.walk(ast.Attribute):
            if node.attr != name:
                continue
            if isinstance(node.ctx, ast.Store):
                made = made or file.site(node)
            else:
                reads += 1
        reads += sum(1 for node in file.walk(ast.Constant) if node.value == name)
    yield Proof(
        where=made or module.made,
        message=f"self.{name} of {module.type} is a parameter that nothing uses",
        label="created here, and never read" if not reads else "it never got a gradient",
        evidence={"parameter": parameter.title, "shape": list(parameter.shape), "reads": reads},
        fix=f"use self.{name} in forward, or remove it",
        severity=None if not reads and made is not None else "info",
    )
