from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import built_at
from stepscope.diagnose.crash.provenance import made_at
from stepscope.common.syntax import said, tree_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("dist.unused-params", severity="error", needs="crash")
def unused_params(run: Evidence) -> Iterator[Proof]:
    """Some parameters of a DistributedDataParallel model do not contribute to the loss.

    Why it matters: the ranks wait for the gradient of every parameter; one that never comes ends the second step.

    What to do: remove what is not used, or wrap with `find_unused_parameters=True`.

    How it is found: DistributedDataParallel gives the numbers of the parameters in its error; they are named here.

    Bad:
        model = DDP(net)                 # net has a head that forward does not call
    Good:
        model = DDP(net, find_unused_parameters=True)
    """
    crash = run.crash
    if crash is None or not crash.says(r"expected to have finished reduction in the prior iteration"):
        return
    wrapper = next((layer.module for layer in crash.layers if layer.module.is_a("DistributedDataParallel")), None)
    inner = None if wrapper is None else wrapper.children.get("module")
    if wrapper is None or inner is None:
        yield from _elsewhere(crash)
        return
    trained = [(name, p) for name, p in inner.named_parameters() if p.requires_grad]
    numbers = _numbers_in(crash.message)
    unused = [name for at, (name, p) in enumerate(trained) if (at in numbers if numbers else not p.has_grad)]
    first = unused[0].rpartition(".")[0] if unused else ""
    yield Proof(
        where=made_at(crash, wrapper) or built_at(crash.modules, wrapper, "") or crash.site,
        message=f"{len(unused)} parameters got no gradient in the previous step: {', '.join(unused[:4]) or 'unknown'}",
        label="find_unused_parameters is off",
        evidence={"unused": unused[:20]},
        fix="remove the unused layers, or pass find_unused_parameters=True",
        related=[(built_at(crash.modules, inner, first), "not used in the forward pass")] if first else [],
    )


def _numbers_in(message: str) -> set[int]:
    """Which parameters DistributedDataParallel names, by their place among those that are trained.

    >>> sorted(_numbers_in("Parameter indices which did not receive grad for rank 0: 4 5\\n In addition, you can"))
    [4, 5]
    """
    found = re.search(r"did not receive grad for rank \d+: ([\d ]+)", message)
    return set() if found is None else {int(number) for number in found[1].split()}


def _elsewhere(crash: Crash) -> Iterator[Proof]:
    """It happened in a process of its own, whose exception arrived as text: the source says where it was wrapped."""
    for file in dict.fromkeys(frame.file for frame in crash.own):
        for node in ast.walk(tree_of(file) or ast.Module([], [])):
            name = said(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if name in ("DistributedDataParallel", "DDP"):
                yield Proof(
                    where=node_site(file, node),
                    message="some parameters got no gradient in the previous step, and the ranks wait for all of them",
                    label="find_unused_parameters is off",
                    evidence={"error": crash.message[:300]},
                    fix="remove the unused layers, or pass find_unused_parameters=True",
                )
                return
