from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose.best_tracking import Best, best_trackers, saves_outside
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("stop.early-stop-wrong", severity="warning", needs="source, end")
def early_stop_wrong(run: Evidence) -> Iterator[Proof]:
    """Early stopping or the choice of the best checkpoint looks the wrong way, or keeps the last weights.

    Why it matters: training stops when it gets better, or the weights that are restored as "the best" are the last.

    What to do: a loss has improved when it is below the best one so far; save only then.

    How it is found: a comparison with the best value so far, whose branch takes the new value as the best, goes against
    what the value's name says (or against the infinity it starts from); or a checkpoint called best is written outside
    of that branch, every time, and loaded in the end.

    Bad:
        if val_loss > best_loss:
            best_loss = val_loss
    Good:
        if val_loss < best_loss:
            best_loss = val_loss
    """
    for file in run.source.files():
        trackers = best_trackers(file, run.source.files())
        for best in trackers:
            if best.wanted is None or best.wanted == best.direction:
                continue
            yield _wrong_way(best)
        for best, node in saves_outside(file, trackers):
            yield Proof(
                where=file.site(node),
                message="the weights kept as the best are written every time, so the last ones are restored",
                label="not inside the branch that has found a better value",
                evidence={"statement": ast.unparse(node)[:120]},
                fix=f"move this into the branch where {best.name} improves",
                related=[(best.file.site(best.test), "here a better value is found")],
            )


def _wrong_way(best: Best) -> Proof:
    better = "smaller" if best.wanted == "min" else "larger"
    taken = "larger" if best.wanted == "min" else "smaller"
    return Proof(
        where=best.file.site(best.test),
        message=f"{best.what} is better when {better}, but a {taken} one is taken as the best",
        label=f"{ast.unparse(best.test)}: {best.name} follows the worst",
        evidence={"value": best.what, "wanted": best.wanted, "taken": best.direction},
        fix=f"turn the comparison round: {best.turned}",
    )
