from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_SHARE = 0.1


@rule("loss.padding-counted", severity="warning")
def padding_counted(run: Evidence) -> Iterator[Proof]:
    """Padding is counted in the loss.

    Why it matters: padding is easy to predict. It makes the loss look low, takes its share of every gradient, and the
    model learns to say "padding" early.

    What to do: `ignore_index=PAD` in the loss, or multiply with the mask and divide by its sum.

    How it is found: the padding of each batch is known (the ends of sequences of different lengths, or an embedding's
    `padding_idx`). At all of those positions the target is one and the same id, and the loss does not ignore it.

    Bad:
        loss = F.cross_entropy(logits.flatten(0, 1), ids.flatten())
    Good:
        loss = F.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=PAD)
    """
    for fact in list(run.sequences.padded.values()):
        share = fact.counted / max(1, fact.total)
        if (fact.calls < 2 and not run.over) or share < _SHARE:
            continue
        where = made = None
        if fact.visit is not None and fact.visit.type in ("CrossEntropyLoss", "NLLLoss"):
            where = made = fact.visit.module.made
        yield Proof(
            where=where or fact.place,
            message=f"{share:.0%} of the targets are padding (id {fact.value}), and the loss counts them",
            label=f"{fact.counted} of {fact.total} targets are padding",
            evidence={"padding_id": fact.value, "share": share, "calls": fact.calls, "padding_idx": fact.declared},
            edit=edits.keyword(where or fact.place, "ignore_index", str(fact.value)),
            fix=f"pass ignore_index={fact.value}",
            related=[(fact.place, "the loss is computed here")] if made is not None else [],
        )
