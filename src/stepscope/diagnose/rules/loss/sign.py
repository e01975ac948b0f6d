from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.ops import CASTS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_sign import is_log_likelihood, is_picked, overlaps, pulls
from stepscope.diagnose.loss_terms import Term, source, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LOSSES
from stepscope.evidence.origins import CONSTANT, PARAMETER, Origin
from stepscope.evidence.steps import Backward

_WANTED = re.compile(r"adv|reward|return|gain|(^|_)(ret|rets|R|G|y|r)($|_)|target|label|one_?hot|truth", re.I)
_FIXES = {"loss": "remove the minus", "overlap": "make it one minus this", "term": "add it: w * a + (1 - w) * b"}
_UNWANTED = re.compile(r"cost|regret|penalt|loss|delta|td|neg", re.I)


@rule("loss.sign", severity="error", follows=("loss.kl-sign", "math.logdet-sign", "loss.swapped-args"))
def sign(run: Evidence) -> Iterator[Proof]:
    """The loss has the wrong sign: training makes the error larger, or what is wanted less likely.

    Why it matters: an optimizer makes the loss smaller. A log-likelihood, or a reward-weighted log-probability, must
    become larger, so it needs a minus; an error must not have one.

    What to do: turn the sign of the term.

    How it is found: the loss is taken apart with the sign of each part. A squared error between prediction and target
    enters it only with a minus; a log-probability times a reward enters with a plus; or an overlap (Dice, IoU) does,
    where one minus it was meant.

    Bad:
        loss = dist.log_prob(y).mean()
    Good:
        loss = -dist.log_prob(y).mean()
    """
    if run.optimizers.maximize:
        return
    found: dict[object, list[tuple[str, str, Origin]]] = {}
    backwards, adversarial = _of_trained_models(run)
    for backward in backwards:
        if backward.origin is None:
            continue
        # Of players against each other, what one makes smaller the other makes larger.
        errors = [] if adversarial else list(_repelled(backward.origin))
        for kind, said, where in (*errors, *_discouraged(run, backward.origin)):
            found.setdefault((kind, where.place), []).append((kind, said, where))
    losses = [backward.loss for backward in run.steps.backwards if backward.loss is not None]
    for several in found.values():
        if len(several) < 3 and not (run.over and len(several) > 1):
            continue
        kind, said, where = several[0]
        yield Proof(
            where=where.place,
            message=said,
            label="this has the wrong sign",
            evidence={"steps": len(several), "loss": losses[:4] + losses[-1:]},
            edit=tensors.negated(where.place) if kind not in ("overlap", "term") else None,
            fix=_FIXES.get(kind, "negate it"),
            severity="error" if kind in ("error", "overlap", "term") else "warning",
        )


def _of_trained_models(run: Evidence) -> tuple[list[Backward], bool]:
    """Backwards of steps that train a model: an attack or a search for an input may well make a loss larger. And
    whether several optimizers take turns."""
    of_models = {id(p) for model in run.models.present for p in model.module.parameters()}
    numbers = [made.number for made in run.optimizers.made if any(id(p) in of_models for p in made.parameters)]
    steps = [step for step in list(run.steps.steps)[:40] if step.optimizer in numbers]
    adversarial = len(run.optimizers.made) > 1 and len({step.optimizer for step in steps}) > 1
    found = {id(backward): backward for step in steps for backward in step.backwards if backward.accumulates}
    return list(found.values()), adversarial


def _repelled(loss: Origin) -> Iterator[tuple[str, str, Origin]]:
    """Errors that are only ever counted negative."""
    for origin, signs in pulls(loss).values():
        if signs == {-1} and not _is_repulsion(loss, origin):
            yield "error", "training makes the squared error between prediction and target larger", _outer(loss, origin)
    for origin, signs in overlaps(loss).values():
        if signs == {1}:
            yield "overlap", "training makes the overlap of prediction and target smaller", origin
    parts = list(terms(loss))
    if len(parts) == 1 and parts[0].origin.op == "mean" and parts[0].origin.inputs:
        similar = parts[0].origin.inputs[0].back_through(CASTS)
        if similar.op == "cosine_similarity" and parts[0].factor > 0 and _is_given(similar):
            yield "overlap", "training makes the prediction less similar to the target", loss
    if len(parts) == 1 and parts[0].origin.op in LOSSES and parts[0].factor < 0:
        yield "loss", f"{parts[0].origin.op} is made larger by training: it enters the loss with a minus", loss
    yield from _raised_terms(loss, parts)


def _raised_terms(loss: Origin, parts: list[Term]) -> Iterator[tuple[str, str, Origin]]:
    """A term with a minus that has layers to itself: those are trained to do badly only."""
    for part in parts:
        if part.origin.op not in LOSSES or part.factor >= 0 or len(parts) == 1 or not part.joins:
            continue
        others = {id(one) for other in parts if other is not part for one in _weights(other.origin)}
        target = part.origin.inputs[1] if len(part.origin.inputs) > 1 else None
        own = [one for one in _weights(part.origin) if id(one) not in others]
        if own and target is not None and not target.requires_grad and not target.tags & (PARAMETER | CONSTANT):
            said = f"{part.origin.op} is made larger by training: it enters the sum with a minus"
            yield "term", said, part.joins[-1]


def _weights(origin: Origin) -> list[Origin]:
    """The trained weights it is computed from."""
    return [past for past in origin.ancestors(4000) if past.kind == "parameter" and past.requires_grad]


def _is_given(pair: Origin) -> bool:
    """One side is learned, the other a batch's own."""
    learned = [one for one in pair.inputs if one.requires_grad]
    given = [one for one in pair.inputs if not one.requires_grad and not one.tags & PARAMETER]
    return len(learned) == 1 and len(given) == 1 and bool(given[0].shape)


def _is_repulsion(loss: Origin, error: Origin) -> bool:
    """A kernel's cross terms, a margin: signs that are meant."""
    between = [one.op for one in loss.ancestors(400) if one.index > error.index]
    return any(op in ("relu", "clamp", "clamp_min", "maximum", "hinge_embedding_loss") for op in between)


def _outer(loss: Origin, inner: Origin) -> Origin:
    """The line to change: where the whole is reduced to one number."""
    origin = loss
    while origin.op in CASTS and origin.inputs:
        origin = origin.inputs[0]
    first = next(iter(terms(loss)), None)
    single = first is not None and len(list(terms(loss))) == 1
    if single or first is None:
        return origin
    return next((t.origin for t in terms(loss) if inner in list(t.origin.ancestors(400))), origin)


def _discouraged(run: Evidence, loss: Origin) -> Iterator[tuple[str, str, Origin]]:
    """log p * reward, or y * log p, with a plus."""
    for term in terms(loss, inside_reductions=True):
        if term.factor <= 0 or not term.origin.inputs:
            continue
        # of `min(ratio * advantage, clipped * advantage)` each part counts
        parts = term.origin.inputs if term.origin.op in ("min", "minimum") else (term.origin,)
        for part in parts:
            if part.op in ("mul", "multiply") and len(part.inputs) == 2:
                yield from _weighted(run, part)
        if term.origin.op == "gather" and is_picked(term.origin) and _is_whole(loss):
            yield "likelihood", "training makes the log-likelihood of the targets smaller", _outer(loss, term.origin)


def _is_whole(loss: Origin) -> bool:
    return len([one for one in terms(loss, inside_reductions=True) if one.origin.requires_grad]) == 1


def _weighted(run: Evidence, product: Origin) -> Iterator[tuple[str, str, Origin]]:
    first, second = product.inputs
    learned, given = (first, second) if first.requires_grad else (second, first)
    if given.requires_grad or not learned.requires_grad or not given.shape or source(given).op in ("neg", "rsub"):
        return
    if not (is_log_likelihood(learned) or source(learned).op in ("log", "log_softmax", "logsigmoid")):
        return
    expression = run.source.expression(product.place)
    names = [node.id for node in ast.walk(expression) if isinstance(node, ast.Name)] if expression is not None else []
    names += [node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute)] if expression else []
    if any(_UNWANTED.search(name) for name in names):
        return
    wanted = [name for name in names if _WANTED.search(name)]
    if wanted:
        said = f"training makes what {wanted[0]} rewards less likely: its log-probability enters the loss with a plus"
        yield "likelihood", said, product
