from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.crash.samples import sample_source
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SIGN = re.compile(r"did not return a loss from the inputs, only the following keys: (.*?)\. .*?received are (.*?)\.?$")
_LABELS = ("label", "labels", "label_ids", "start_positions", "end_positions")


@rule("loss.not-returned", severity="error", needs="crash")
def not_returned(run: Evidence) -> Iterator[Proof]:
    """The model gives a Trainer no loss: it has no labels, or its `forward` computes none.

    Why it matters: a Trainer of Transformers trains on the loss that the model returns; without one it cannot begin.

    What to do: give the model its targets under the name `labels`, and have `forward` return a loss when it gets them.
    A column that `forward` has no argument for is taken out of the data before (`remove_unused_columns`).

    Bad:
        def forward(self, input_ids, labels=None):
            return {"logits": self.head(self.body(input_ids))}
    Good:
        def forward(self, input_ids, labels=None):
            logits = self.head(self.body(input_ids))
            loss = None if labels is None else F.cross_entropy(logits, labels)
            return {"loss": loss, "logits": logits}
    """
    crash = run.crash
    found = None if crash is None else _SIGN.search(" ".join(crash.text.split()))
    if crash is None or found is None:
        return
    given, received = ([name.strip() for name in part.split(",")] for part in found.groups())
    labels = [name for name in received if name in _LABELS]
    evidence = {"returned": given, "received": received}
    if labels:
        yield Proof(
            where=run.trainer.works or crash.site,
            message=f"`forward` gets `{labels[0]}`, but returns no loss: only {', '.join(given)}",
            label="no `loss` here",
            evidence=evidence,
            fix='compute the loss when labels are given, and return {"loss": loss, "logits": logits}',
            related=[(crash.site, "the Trainer needs a loss")],
        )
        return
    yield Proof(
        where=sample_source(crash) or crash.site,
        message=f"the model gets no labels, only {', '.join(received)}, and so computes no loss",
        label="no `labels` reach the model",
        evidence=evidence,
        fix='give the targets the name "labels"; columns that `forward` does not name are removed from the data',
        related=[(crash.site, "the Trainer needs a loss")],
    )
