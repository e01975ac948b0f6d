from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.target_lines import cut_at, target_line
from stepscope.evidence.targets import Target


@rule("data.target-shifted-twice", severity="error")
def target_shifted_twice(run: Evidence) -> Iterator[Proof]:
    """The language model has to predict the token after the next one.

    Why it matters: the labels were shifted by one position, and the model or the loss shifts them once more. The loss
    still falls, toward a worse floor, and generated text skips a token at every step.

    What to do: shift once. Models of Hugging Face shift by themselves: give them `labels=input_ids`.

    How it is found: the target of the loss is, number for number, the ids the model was given two places on, batch
    after batch, and no loss of this training asks for the next one.

    Bad:
        loss = model(input_ids=tokens[:, :-1], labels=tokens[:, 1:]).loss      # the model shifts the labels too
    Good:
        loss = model(input_ids=tokens, labels=tokens).loss
    """
    if any(1 in target.ids_ahead for target in run.targets.all):
        return  # several tokens ahead are meant to be predicted
    for target in run.targets.all:
        batches = target.ids_ahead.get(2, 0)
        if batches < 3 or batches < target.looks:
            continue
        yield Proof(
            where=_where(run, target),
            message="the target is the token after the next one: it is shifted twice",
            label="two positions after the input",
            evidence={"batches": batches, "op": target.op},
            fix="shift once: if the model shifts its labels itself, pass it the input ids as labels",
            related=[(target.place, "the loss compares with it here")],
        )


def _where(run: Evidence, target: Target) -> Any:
    """The shift outside the model, if there is one: the model's own is meant."""
    outside = next((past for past in target.origin.ancestors(60) if past.visit is None), None)
    return cut_at(run, outside) or birth(run, outside) or target_line(run, target) or target.place
