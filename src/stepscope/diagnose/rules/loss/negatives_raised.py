from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.score_direction import constant_labels, drawn_ids, score_signs
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_ENOUGH = 3
_MOST = 12
_RANKED = {"margin_ranking_loss": ("input1", "input2"), "triplet_margin_loss": ("positive", "negative")}


@rule("loss.negatives-raised", severity="error", follows=("loss.swapped-args", "loss.sign"))
def negatives_raised(run: Evidence) -> Iterator[Proof]:
    """The loss raises the scores of random negatives, as if they were what the model should prefer.

    Why it matters: a ranking or contrastive loss learns by telling what was seen from what was drawn at random. With
    the two swapped, or without the minus on the negatives, it learns that random items fit best, or that all do.

    What to do: the score of the negatives must make the loss larger: `-logsigmoid(positive - negative)`, and
    `-logsigmoid(positive) - logsigmoid(-negative)`.

    How it is found: the loss is taken apart with the sign of each score. In at least three steps it falls with a score
    whose ids come straight from a random draw, and another score in it was looked up with ids that were not drawn.

    Bad:
        negative = torch.randint(items, (len(user),))
        loss = -F.logsigmoid(score(user, negative) - score(user, liked)).mean()
    Good:
        negative = torch.randint(items, (len(user),))
        loss = -F.logsigmoid(score(user, liked) - score(user, negative)).mean()
    """
    labels = constant_labels(run)
    found: dict[Place | None, list[tuple[Origin, bool]]] = {}
    seen = [one for one in run.steps.backwards if one.accumulates and one.origin is not None][:_MOST]
    for backward in seen:
        for score, swapped in _raised(backward.origin, labels) if backward.origin is not None else ():
            found.setdefault(_compared_at(backward.origin, score), []).append((score, swapped))
    for calls in run.losses.by_place(*_RANKED):
        wrong = [call for call in calls[:_MOST] if _is_swapped(call)]
        if len(wrong) >= _ENOUGH:
            found.setdefault(calls[0].place, []).extend((call.origins[_RANKED[call.name][0]], True) for call in wrong)
    for place, scores in found.items():
        if len(scores) < _ENOUGH or place is None:
            continue
        score, swapped = scores[0]
        yield Proof(
            where=place,
            message="training raises the scores of randomly drawn negatives"
            + (" and lowers those of the positives" if swapped else ""),
            label="the loss falls when the score of a negative rises",
            evidence={"steps": len(scores)},
            fix="swap the two scores" if swapped else "negate the score of the negatives",
            related=[(score.place, "the score of the negatives")] if score.place is not None else (),
        )


def _raised(loss: Origin | None, labels: dict[Origin, float]) -> Iterator[tuple[Origin, bool]]:
    """Scores of drawn ids that the loss falls with, and whether it rises with those of other ids."""
    scores = [] if loss is None else [(score, sign, *drawn_ids(score)) for score, sign in score_signs(loss, labels)]
    looked_up = [one for one in scores if one[2] or one[3]]
    if len(looked_up) < 2:
        return
    shared = set.intersection(*(drawn for _, _, drawn, _ in looked_up))
    negatives = [(score, sign) for score, sign, drawn, _ in looked_up if drawn - shared]
    positives = [sign for _, sign, drawn, _ in looked_up if not drawn - shared]
    if positives and negatives and all(sign < 0 for _, sign in negatives):
        yield negatives[0][0], all(sign > 0 for sign in positives)


def _is_swapped(call: LossCall) -> bool:
    """The place of the positive holds drawn ids and that of the negative does not."""
    first, second = (call.origins.get(name) for name in _RANKED[call.name])
    if first is None or second is None or (call.name == "margin_ranking_loss" and set(call.counts or ()) != {1}):
        return False
    drawn, _ = drawn_ids(first)
    others, given = drawn_ids(second)
    return bool(drawn - others) and bool(given) and not others - drawn


def _compared_at(loss: Origin | None, score: Origin) -> Place | None:
    """Where the score goes into the loss."""
    above = [] if loss is None else [one for one in loss.ancestors(200) if one.op.rstrip("_") in _ENTRIES]
    return next((one.place for one in above if score in list(one.ancestors(60))), score.place)


_ENTRIES = frozenset(
    {"logsigmoid", "log_sigmoid", "softplus", "relu", "clamp", "log", "binary_cross_entropy_with_logits"}
)
