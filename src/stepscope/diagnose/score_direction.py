"""Which way a loss moves a score: down a sum, and through functions that only rise or only fall with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from stepscope.common.ops import INT_CASTS, VIEWS
from stepscope.diagnose.loss_terms import terms
from stepscope.evidence.origins import PARAMETER

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.origins import Origin

_RISING = frozenset({
    "exp", "log", "logsumexp", "sqrt", "log1p", "softplus", "logsigmoid", "log_sigmoid", "sigmoid", "tanh", "relu",
    "clamp", "clamp_min", "leaky_relu",
})  # fmt: skip
_LABELED = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss")
_DRAWS = frozenset({"randint", "randint_like", "random_", "multinomial", "randperm"})
_PICKS = frozenset({"embedding", "embedding_bag", "getitem", "index_select", "gather"})
_MIXES = frozenset({"add", "sub", "remainder", "fmod", "where"})
_ANCESTORS = 400
_MOST = 200


def constant_labels(run: Evidence) -> dict[Origin, float]:
    """The results of losses that pull all scores toward one label, with that label."""
    found: dict[Origin, float] = {}
    for call in run.losses.named(*_LABELED):
        look = call.look
        label = None if look is None or look.target_low != look.target_high else look.target_low
        if call.result is not None and label is not None:
            found[call.result] = label
    return found


def score_signs(
    loss: Origin, labels: dict[Origin, float], until: Callable[[Origin], bool] | None = None
) -> Iterator[tuple[Origin, int]]:
    """The scores at the ends of a loss: 1 where the loss rises with them, -1 where it falls.

    >>> # -logsigmoid(liked - unseen).mean() falls with liked and rises with unseen
    """
    queue = [(loss, 1)]
    for whole, sign in queue:
        for term in terms(whole, inside_reductions=True, until=until):
            origin, now = term.origin, sign if term.factor > 0 else -sign
            if not term.factor or not origin.requires_grad or len(queue) > _MOST:
                continue
            label = labels.get(origin)
            if until is not None and until(origin):
                yield origin, now
            elif label is not None and origin.inputs:
                learned = [one for one in origin.inputs if one.requires_grad]
                queue += [(one, -now if label > 0.5 else now) for one in learned[:1]]
            elif origin.op.rstrip("_") in _RISING and origin.inputs:
                queue.append((origin.inputs[0], now))
            else:
                yield origin, now


def drawn_ids(score: Origin) -> tuple[set[int], set[int]]:
    """What was looked up for a score: the numbers of the random draws that gave ids, and those of other ids."""
    drawn: set[int] = set()
    given: set[int] = set()
    for past in score.ancestors(_ANCESTORS, through=lambda one: one.requires_grad):
        if past.op not in _PICKS or not past.requires_grad:
            continue
        for ids in (one for one in past.inputs if not one.is_floating):
            draw = _draw_behind(ids)
            (given if draw is None else drawn).add(id(ids) if draw is None else draw.index)
    return drawn, given


def _draw_behind(ids: Origin, depth: int = 4) -> Origin | None:
    """The draw whose very numbers these are; rows of a table that were picked at random are not drawn."""
    made = ids.back_through(VIEWS | INT_CASTS)
    if made.op == "multinomial" and made.tags & PARAMETER:
        return None  # an action that the model has chosen itself is not a negative
    if made.op in _DRAWS:
        return made
    if depth and made.op in _MIXES:
        return next((draw for part in made.inputs if (draw := _draw_behind(part, depth - 1)) is not None), None)
    return None
