from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("io.save-module-pickle", severity="info", needs="end, crash", follows=("io.weights-only",))
def save_module_pickle(run: Evidence) -> Iterator[Proof]:
    """A whole module is saved, with pickle, instead of its weights.

    Why it matters: the file holds the paths of the classes. Rename or move one and it cannot be read; since torch 2.6
    `torch.load` refuses it by default, because reading it runs whatever code is in it.

    What to do: save `model.state_dict()`, build the model again, and load the weights into it.

    How it is found: `torch.save` was given a module.

    Bad:
        torch.save(model, "model.pt")
    Good:
        torch.save(model.state_dict(), "model.pt")
    """
    for written in run.checkpoints.writes:
        if written.modules:
            yield Proof(
                where=written.place,
                message=f"the whole {written.modules[0]} is saved, with pickle, instead of its weights",
                label="torch.load refuses it by default since 2.6",
                evidence={"modules": written.modules[:5], "file": written.path[:200]},
                fix="torch.save(model.state_dict(), ...), and load it with model.load_state_dict(torch.load(...))",
            )
