from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.loaded_weights import LoadedWeights

_FEWEST = 3
_NEARLY_ALL = 0.8


@rule("io.load-overwritten", severity="error", needs="steps, end")
def load_overwritten(run: Evidence) -> Iterator[Proof]:
    """The weights of a checkpoint are loaded, and then initialized again.

    Why it matters: nothing of the pretrained weights is left, without a word: the fine-tuning starts from random ones.

    What to do: initialize first, and load last; after loading initialize only the layers that are new.

    How it is found: nearly all parameters that `load_state_dict` has set were filled again, by `uniform_`, `zeros_` or
    another initializer, before the model was called or updated.

    Bad:
        model.load_state_dict(torch.load("pretrained.pt"))
        model.apply(init_weights)
    Good:
        model.apply(init_weights)
        model.load_state_dict(torch.load("pretrained.pt"))
    """
    for loaded in run[LoadedWeights].all:
        if loaded.given >= _FEWEST and loaded.refilled >= _NEARLY_ALL * loaded.given:
            yield Proof(
                where=loaded.place,
                message=f"{loaded.refilled} of the {loaded.given} parameters loaded into {loaded.model} are "
                "initialized again before they are used: nothing of the checkpoint is left",
                label="loaded here, and then overwritten",
                evidence={"given": loaded.given, "refilled": loaded.refilled, "op": loaded.op},
                fix="load the checkpoint after the initialization, not before it",
                related=[(loaded.refilled_at, f"{loaded.op} fills them again here")],
            )
