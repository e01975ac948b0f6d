from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.place import Place
from stepscope.records.step import Site

_PROBABILITIES = ("softmax", "sigmoid")


@rule("loss.from-logits", severity="error")
def from_logits(run: Evidence) -> Iterator[Proof]:
    """A Keras loss treats raw scores as probabilities, or probabilities as raw scores.

    Why it matters: with `from_logits=True` the loss applies the softmax itself, so that one in the last layer is
    applied twice and the loss cannot fall far. Without it the loss takes the logarithm of what it is given, and raw
    scores are cut off at 0 and 1: most of the gradient is lost.

    What to do: leave the last layer without an activation and say `from_logits=True`, or keep the softmax and leave it
    out. One of the two, not both and not neither.

    How it is found: the activation of the model's last layer and the loss it was compiled with contradict each other.

    Bad:
        model = keras.Sequential([Dense(32, "relu"), Dense(10, "softmax")])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    Good:
        model = keras.Sequential([Dense(32, "relu"), Dense(10)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    """
    if run.trainer.output_and_loss is None or not (run.over or run.steps.step_count >= 2):
        return
    activation, loss, takes_logits = run.trainer.output_and_loss
    evidence = {"activation": activation, "loss": loss, "from_logits": takes_logits}
    where = _compiled(run) or run.trainer.called
    if takes_logits and activation in _PROBABILITIES:
        yield Proof(
            where=where,
            message=f"the last layer ends in {activation}, and the loss applies it again (from_logits=True)",
            label="from_logits=True means raw scores",
            evidence=evidence,
            fix=f"leave out from_logits=True, or the {activation} of the last layer",
        )
    elif not takes_logits and activation == "linear":
        yield Proof(
            where=where,
            message=f"the last layer returns raw scores, and {loss} interprets them as probabilities",
            label="the loss does not know that it gets raw scores",
            evidence=evidence,
            fix="pass from_logits=True to the loss, or end the last layer in "
            + ("sigmoid" if loss.startswith("binary") else "softmax"),
        )


def _compiled(run: Evidence) -> Site | Place | None:
    """The loss in the only call of `compile` that names one."""
    found = []
    for file in run.source.files():
        for call in file.calls("compile"):
            given: list[ast.expr] = [word.value for word in call.keywords if word.arg == "loss"] or call.args[1:2]
            found += [file.site(one) for one in given]
    return found[0] if len(found) == 1 else None
