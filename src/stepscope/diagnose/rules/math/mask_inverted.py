from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.ops import VIEWS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.attention import Masking
from stepscope.evidence.origins import Origin

_GRAPH = re.compile(r"adj|neigh|edge|graph|connect", re.I)
_KEEPS_SENSE = VIEWS | {"bool", "gt", "ge", "ne"}
_MAKERS = ("triu", "tril", "triu_", "tril_", "ge", "gt", "le", "lt", "generate_square_subsequent_mask")


@rule("math.mask-inverted", severity="error")
def mask_inverted(run: Evidence) -> Iterator[Proof]:
    """An attention mask hides what should be seen and shows what should be hidden.

    Why it matters: with a causal mask the wrong way round each step sees only later steps; with an inverted
    neighbor mask a node sees everything but its neighbors. The model learns from the wrong places.

    What to do: `scaled_dot_product_attention` takes a boolean mask in which True means "may look";
    `nn.MultiheadAttention` and `nn.Transformer` take one in which True means "must not", and `masked_fill` hides where
    its mask is True.

    How it is found: the masks that attention receives are checked. One hides exactly the past and nothing of the
    future; or the adjacency of a graph is what is filled with minus infinity.

    Bad:
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    Good:
        mask = torch.ones(t, t, dtype=torch.bool).tril()
        F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    """
    for masking in run.attention.all:
        if masking.looks < 2 and not run.over:
            continue
        if masking.patterns and all(pattern == "future" for pattern in masking.patterns):
            yield _backwards(masking)
        elif masking.kind == "softmax":
            yield from _graph(run, masking)


def _backwards(masking: Masking) -> Proof:
    steps = masking.size[0]
    made = None if masking.mask is None else masking.mask.comes_from(*_MAKERS, most=40)
    return Proof(
        where=made.place if made is not None and made.place is not None else masking.place,
        message="the causal mask is inverted: each step sees only itself and later steps",
        label=f"of {steps} steps the first sees all, the last sees only itself",
        evidence={"steps": steps, "calls": masking.calls, "attention": masking.kind},
        fix=_FIXES.get(masking.kind, "mask what is above the diagonal (triu(1)), not below"),
        related=[(masking.place, "the mask is used here")] if made is not None else [],
    )


_FIXES = {
    "scaled_dot_product_attention": "True means 'may attend' here: use .tril(), or ~mask, or is_causal=True",
}


def _graph(run: Evidence, masking: Masking) -> Iterator[Proof]:
    """The adjacency itself is filled with minus infinity."""
    filled = None if masking.mask is None else _fill(masking.mask)
    if filled is None or len(filled.inputs) < 2:
        return
    mask = filled.inputs[1].back_through(_KEEPS_SENSE)
    names = _names(run, filled) + _names(run, filled.inputs[1])
    if mask.op in ("eq", "logical_not", "bitwise_not", "lt", "le", "rsub") or not any(map(_GRAPH.search, names)):
        return
    if _inverted_in_words(run, filled) or not masking.hides_itself:
        return
    yield Proof(
        where=filled.place,
        message="the mask hides each node's neighbors and shows all others",
        label="where this is True the scores become minus infinity",
        evidence={"calls": masking.calls, "nodes": masking.size[0]},
        edit=tensors.inverted_mask(filled.place),
        fix="hide where there is no edge: masked_fill(adj == 0, ...) or masked_fill(~adj, ...)",
    )


def _fill(scores: Origin) -> Origin | None:
    return next((one for one in scores.ancestors(6) if one.op in ("masked_fill", "masked_fill_")), None)


def _names(run: Evidence, origin: Origin) -> list[str]:
    expression = run.source.expression(origin.place)
    if expression is None:
        return []
    found = [node.id for node in ast.walk(expression) if isinstance(node, ast.Name)]
    return found + [node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute)]


def _inverted_in_words(run: Evidence, filled: Origin) -> bool:
    call = run.source.call(filled.place)
    inverted = (ast.Invert, ast.Not)
    return call is not None and any(isinstance(node, inverted) for argument in call.args for node in ast.walk(argument))
