from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.batch_mixing import normalised_over_batch
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin


@rule("math.normalize-dim", severity="error")
def normalize_dim(run: Evidence) -> Iterator[Proof]:
    """Vectors are normalized along the batch instead of along themselves.

    Why it matters: a similarity of vectors that do not have length 1 is not a cosine: it depends on the size of the
    batch and on the other samples in it, and long vectors win.

    What to do: `F.normalize(z, dim=-1)`.

    How it is found: the normalized tensor is followed to the product that compares vectors. It runs along another axis
    than the one that was normalized, which is the batch. Or, in a forked copy of the process, the answers for one
    sample change when another sample is replaced.

    Bad:
        z = F.normalize(encoder(x), dim=0)
        similarity = z @ z.t()
    Good:
        z = F.normalize(encoder(x), dim=1)
        similarity = z @ z.t()
    """
    seen = set()
    for crossing in run.contractions.all:
        made = crossing.made
        if made.op in ("softmax", "log_softmax") or crossing.axis != 0 or (crossing.calls < 2 and not run.over):
            continue
        if not made.requires_grad or not _of_data(made):
            continue
        shape = ", ".join(map(str, made.shape))
        seen.add(made.place)
        yield Proof(
            where=where_applied(run, made),
            message=f"the vectors are normalized along the batch, axis 0 of ({shape}), and compared along axis "
            f"{crossing.used}",
            label=f"axis 0 of ({shape}) is the batch",
            evidence={"axis": crossing.axis, "used_axis": crossing.used, "shape": list(made.shape)},
            edit=tensors.dim(where_applied(run, made), -1),
            fix="use dim=-1",
            related=[(crossing.place, "the vectors are compared here")],
        )
    if "math.normalize-dim" in run.found:
        return
    for made, trial in normalised_over_batch(run, "normalize"):
        if made.place not in seen and made.requires_grad:
            yield Proof(
                where=where_applied(run, made),
                message=f"the vectors are normalized along the batch, axis 0 of ({', '.join(map(str, made.shape))})",
                label=f"replacing one sample changes the outputs for the others by {trial.mixing:.1%}",
                evidence={"axis": 0, "shape": list(made.shape), "change": trial.mixing},
                edit=tensors.dim(where_applied(run, made), -1),
                fix="use dim=-1",
            )


def _of_data(made: Origin) -> bool:
    """Weights may well be normalized along their first axis."""
    return any(origin.kind not in ("parameter", "buffer") for origin in made.ancestors(2000) if not origin.inputs)
