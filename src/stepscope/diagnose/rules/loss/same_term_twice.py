from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import Term, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import NOISE, Origin
from stepscope.records.place import Place
from stepscope.records.step import Site

_BACKWARDS = 3
_LOOKED = 12
_DEPTH = 6
_PARTS = frozenset(
    {"getitem", "select", "index", "index_select", "narrow", "slice", "gather", "split", "chunk", "unbind"}
)
_RANDOM = frozenset({"dropout", "alpha_dropout", "feature_dropout", "dropout2d", "rrelu", "bernoulli"})


@rule("loss.same-term-twice", severity="warning", follows=("loss.sign", "loss.wrong-target", "rl.*"))
def same_term_twice(run: Evidence) -> Iterator[Proof]:
    """The same term is added to the loss twice: one of them was meant to compare with something else.

    Why it matters: mixed samples with only one of their two labels, two critics of which one is trained twice and the
    other never: nothing fails, and what the missing term stands for is not learned.

    What to do: look at the arguments of both terms: one of them should be the other target, or the other prediction.

    How it is found: in at least three backwards two terms of the loss were computed by the same operation from the very
    same tensors.

    Bad:
        loss = lam * F.cross_entropy(out, y_a) + (1 - lam) * F.cross_entropy(out, y_a)
    Good:
        loss = lam * F.cross_entropy(out, y_a) + (1 - lam) * F.cross_entropy(out, y_b)
    """
    seen: dict[tuple[Place, Place], list[Place | None]] = {}
    for backward in [one for one in run.steps.backwards if one.accumulates and one.origin is not None][-_LOOKED:]:
        assert backward.origin is not None
        for first, second in _twice(backward.origin):
            seen.setdefault((first, second), []).append(backward.place)
    for (first, second), backwards in seen.items():
        if len(backwards) < _BACKWARDS:
            continue
        yield Proof(
            where=_doubled_name(run, first, second) or second,
            message="two terms of the loss are the same: the same operation on the same tensors",
            label="the same tensors again",
            evidence={"backwards": len(backwards)},
            fix="compare the second term with what it was meant for: the other target, or the other prediction",
            related=[(first, "the first term"), (second, "the second term"), (backwards[0], "backward starts here")],
        )


def _twice(loss: Origin) -> Iterator[tuple[Place, Place]]:
    whole = terms(loss, until=lambda one: one.op in _PARTS)  # `risk[i]` and `risk[j]` are not both `risk`
    parts = [term for term in whole if term.joins and _counts(term)][:30]
    for number, term in enumerate(parts):
        for other in parts[number + 1 :]:
            first, second = term.origin.place, other.origin.place
            if first is None or second is None or term.factor * other.factor <= 0:
                continue
            if _is_same(term.origin, other.origin):
                yield first, second


def _counts(term: Term) -> bool:
    return bool(term.factor) and term.origin.requires_grad and bool(term.origin.inputs)


def _is_same(one: Origin, other: Origin, depth: int = _DEPTH) -> bool:
    if one is other:
        return True
    if not depth or one.op != other.op or not one.op or one.output != other.output or one.kind != "op":
        return False
    if one.op in _PARTS or one.op in _RANDOM or one.op.startswith("unseen:") or len(one.inputs) != len(other.inputs):
        return False
    if not one.inputs or one.shape != other.shape or (one.tags & NOISE and not one.requires_grad):
        return False
    if one.arguments != other.arguments:
        return False
    return all(_is_same(a, b, depth - 1) for a, b in zip(one.inputs, other.inputs, strict=True))


def _doubled_name(run: Evidence, first: Place, second: Place) -> Site | None:
    """`return x, y, y, lam` in a file of the terms: where one value was given the names of two."""
    found = []
    for path in {first.file, second.file}:
        file = run.source.file(path)
        if file is None:
            continue
        for node in file.walk(ast.Tuple):
            if isinstance(file.parents.get(node), (ast.Return, ast.Assign)) and isinstance(node.ctx, ast.Load):
                names = [one.id for one in node.elts if isinstance(one, ast.Name)]
                if len(names) > len(set(names)):
                    found.append(file.site(node))
    return found[0] if len(found) == 1 else None
