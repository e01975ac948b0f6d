"""What lets the samples of a batch see each other: something normalized along it, and a trial that shows the effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.diagnose.evidence import Evidence
    from stepscope.evidence.input_perturbation import Perturbation
    from stepscope.evidence.origins import Origin
    from stepscope.evidence.visits import Visit

_ENOUGH = 1e-3
_PICKED = ("getitem", "index_select", "split", "chunk", "narrow")


def normalised_over_batch(run: Evidence, *ops: str) -> Iterator[tuple[Origin, Perturbation]]:
    """Ops of these kinds along the first axis, in a model whose answers for one sample change with the others.

    Only where the rows are samples: a loader brought them, or they were picked from a larger table.
    """
    for several in run.contractions.first_axis.values():
        made = several[0]
        if made.op not in ops or made.visit is None or (len(several) < 2 and not run.over):
            continue
        root = made.visit.root
        if not _rows_are_samples(root, made.shape[0]):
            continue
        for trial in run.input_perturbation.of(root):
            if trial.mixing is not None and trial.mixing > _ENOUGH and trial.rows == trial.visit.shapes_in[0][0]:
                yield made, trial
                break


def _rows_are_samples(root: Visit, rows: int) -> bool:
    if not root.inputs or root.shapes_in[0][:1] != (rows,) or root.shapes_out[:1] == []:
        return False
    if root.shapes_out[0][:1] != (rows,) or any(shape == (rows, rows) for shape in root.shapes_in):
        return False
    first = root.inputs[0]
    near = [first, *first.ancestors(8)]
    return any(one.kind == "data" for one in near) or any(one.op in _PICKED for one in near)
