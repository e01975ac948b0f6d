from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.crash.saved_entries import refused
from stepscope.diagnose.crash.value_origin import article
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("io.weights-only", severity="error", needs="crash")
def weights_only(run: Evidence) -> Iterator[Proof]:
    """A file with more than tensors in it was loaded, which `torch.load` refuses by default.

    Why it matters: a pickled object runs code when it is loaded, so torch 2.6 and later load only tensors unless told.

    What to do: save `model.state_dict()` instead of the model; for a file of your own pass `weights_only=False`.

    Bad:
        torch.save(model, "model.pt")
        model = torch.load("model.pt")
    Good:
        torch.save(model.state_dict(), "model.pt")
        model.load_state_dict(torch.load("model.pt"))
    """
    crash = run.crash
    if crash is None or not crash.says(r"weights only load failed", r"weights_only"):
        return
    if crash.says(r"unsupported operand|invalid load key|ran out of input"):  # the file is not a checkpoint at all
        return
    places = {one.place for one in run.checkpoints.writes if one.place is not None}
    saved = places.pop().site if len(places) == 1 else None
    found = refused(run, crash, saved)
    if found is not None and found.site is not None:
        entry = f"the entry {found.key} of the checkpoint" if found.key else f"what is saved, `{found.text}`,"
        yield Proof(
            where=found.site,
            message=f"{entry} is {_article(found.kind)}; by default torch.load accepts only tensors and plain values",
            label=_article(found.kind),
            evidence={"class": found.kind, "entry": found.key},
            edit=edits.replace(found.site, found.plain) if not found.plain.startswith("dataclasses.") else None,
            fix=f"save plain values: {found.plain}; a file you trust can be loaded with weights_only=False",
            related=[(crash.site, "torch.load refuses it here")],
        )
        return
    what = "pickled objects" if found is None else f"an object of the class {found.kind}"
    yield Proof(
        where=saved or crash.site,
        message=f"the file contains {what}, and torch.load accepts only tensors by default",
        label="weights_only is True by default",
        evidence={"error": crash.message[:200]},
        fix="save state_dict() and plain values instead of the object (a config as a dict: asdict(config)); or, for a "
        "file you trust, pass weights_only=False",
        related=[] if saved is None else [(crash.site, "torch.load refuses it here")],
    )


def _article(kind: str) -> str:
    if "multiarray" in kind:
        return "a number of NumPy" if kind.endswith("scalar") else "an array of NumPy"
    name = kind.removeprefix("__main__.")
    return f"{article(name)} {name}"
