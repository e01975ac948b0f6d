from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.data_sources import birth
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.view_pairs import ViewPairs

_LOOKS = 3


@rule("loss.view-pairs", severity="error")
def view_pairs(run: Evidence) -> Iterator[Proof]:
    """A contrastive loss pulls each sample toward another sample, not toward its own second view.

    Why it matters: the views are put one below the other, so the second view of row i is row i + N. With the numbers
    for views that take turns (0 and 1, 2 and 3), each sample learns to be like its neighbor in the batch.

    What to do: `targets = torch.cat([torch.arange(N, 2 * N), torch.arange(N)])`.

    How it is found: the similarities of two results, put together by `cat`, go into a cross entropy. In at least three
    looks nine in ten rows had to find a row of their own half, where no second view can be.

    Bad:
        z = torch.cat([z1, z2])
        loss = F.cross_entropy(z @ z.t() / 0.1, torch.arange(2 * n) ^ 1)
    Good:
        loss = F.cross_entropy(z @ z.t() / 0.1, (torch.arange(2 * n) + n) % (2 * n))
    """
    for pair in run[ViewPairs].all:
        if pair.looks < _LOOKS or pair.within < pair.looks:
            continue
        made = birth(run, pair.target)
        n = pair.rows
        yield Proof(
            where=made or pair.place,
            message=f"each sample is to find a row of its own view, but the second view of row 0 is row {n}: the two "
            "views lie one below the other",
            label=f"the other view is {n} rows further on",
            evidence={"rows": n, "looks": pair.looks},
            fix=f"targets = (torch.arange(2 * n) + n) % (2 * n), with n = {n} samples",
            related=[
                (place, words)
                for place, words in ((pair.joined, "the views are put together here"), (pair.place, "the loss"))
                if place is not None
            ],
        )
