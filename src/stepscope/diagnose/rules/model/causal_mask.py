from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import DROPOUTS, MASKS, NOISE, RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.attention import Masking
from stepscope.evidence.input_perturbation import Perturbation
from stepscope.evidence.origins import Origin
from stepscope.evidence.sequences import NextStep

_MAKERS = ("triu", "tril", "triu_", "tril_", "ge", "gt", "le", "lt")
_HIDE = MASKS | {"mul", "mul_", "tril", "triu"}
_SAME_WEIGHTS = RESHAPES | DROPOUTS
_LOSSES = 3
"""How many traced losses are searched for a mask; every step applies the same ones."""


@rule("model.causal-mask", severity="error", follows=("math.mask-inverted", "data.target-not-shifted"))
def causal_mask(run: Evidence) -> Iterator[Proof]:
    """A model that predicts the next step can see it.

    Why it matters: the answer is in the input. The loss falls to almost nothing, and when the model has to continue a
    sequence on its own it has learned nothing.

    What to do: mask attention so that each step sees only itself and what came before: `is_causal=True`, or
    `nn.Transformer.generate_square_subsequent_mask(t)`.

    How it is found: the target of the loss is the input one step on. In a forked copy of the process the last step of
    the input is changed: the answers for earlier steps change too.

    Bad:
        y = F.scaled_dot_product_attention(q, k, v)
    Good:
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    """
    seen = set()
    for step in run.sequences.next_steps:
        root = step.visit
        module = root.module
        if id(module) in seen or sum(one.visit.module is module for one in run.sequences.next_steps) < 2:
            continue
        tried = [trial for trial in run.input_perturbation.of(root) if trial.leaks is not None]
        if any(not trial.leaks for trial in tried):
            continue
        culprits = [one for one in run.attention.all if _of_model(one, module) and _is_open(one, bool(tried))]
        if not tried and (not culprits or any(_of_model(one, module) and _is_causal(one) for one in run.attention.all)):
            continue
        seen.add(id(module))
        yield _proof(run, step, tried[0] if tried else None, culprits)


def _of_model(masking: Masking, module: object) -> bool:
    return masking.visit is not None and masking.visit.root.module is module


def _is_open(masking: Masking, tried: bool) -> bool:
    square = masking.size[0] == masking.size[1] > 1
    return square and bool(masking.patterns) and masking.patterns[0] in ("none", "ahead", *(["other"] if tried else []))


def _is_causal(masking: Masking) -> bool:
    return bool(masking.patterns) and masking.patterns[0] == "causal"


def _proof(run: Evidence, step: NextStep, trial: Perturbation | None, culprits: list[Masking]) -> Proof:
    ahead = next((one for one in culprits if one.patterns[0] == "ahead"), None)
    culprit = ahead or next(iter(culprits), None)
    where = step.visit.place if culprit is None else culprit.place
    message = "the model predicts the next step, but its outputs depend on later steps"
    fix = "mask the future: is_causal=True, or a mask that hides everything above the diagonal"
    if culprit is not None:
        message = "the model predicts the next step and can see it: attention looks ahead"
        late = _late_mask(run, culprit)
        if late is not None and late.place is not None:
            where = late.place
            message = "attention is masked after the softmax, whose sum has already seen later steps"
            fix = "mask the scores instead: masked_fill(mask == 0, float('-inf')) before the softmax"
    if ahead is not None and ahead.mask is not None:
        made = ahead.mask.comes_from(*_MAKERS, most=40)
        where = made.place if made is not None and made.place is not None else where
        fix = f"each step sees {ahead.ahead} step(s) too far: move the diagonal by {ahead.ahead}"
    if trial is not None and trial.leaks:
        first = trial.leaks[0]
        changed = f"changing step {trial.length - 1} changes the outputs from step {first} on"
    else:
        changed = "nothing hides the steps that come after"
    return Proof(
        where=where,
        message=message,
        label=changed,
        evidence={
            "length": step.length,
            "leaking_steps": None if trial is None else (trial.leaks or [])[:20],
            "attention": None if culprit is None else culprit.kind,
        },
        fix=fix,
        related=[(step.place, "the target here is the input, shifted by one step")],
        severity=None if trial is not None else "warning",
    )


def _late_mask(run: Evidence, culprit: Masking) -> Origin | None:
    """The op that hides weights of this attention after its softmax, by a mask that is neither learned nor random."""
    traced = [one.origin for one in run.steps.backwards if one.origin is not None]
    for loss in traced[:_LOSSES]:
        for origin in loss.ancestors():
            if origin.op in _HIDE and origin.shape[-2:] == culprit.size and _hides(origin, culprit):
                return origin
    return None


def _hides(origin: Origin, culprit: Masking) -> bool:
    sources = [source.back_through(_SAME_WEIGHTS) for source in origin.inputs]
    weights = [one for one in sources if one.op == culprit.kind == "softmax" and one.place == culprit.place]
    masks = [one for one in sources if one not in weights and one.shape[-2:] == culprit.size]
    if len(weights) != 1 or not (masks or origin.op in ("tril", "triu")):
        return False
    return not any(
        one.kind == "parameter" or one.op in NOISE | DROPOUTS for mask in masks for one in mask.ancestors(40)
    )
