from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.checkpoints import Loading


@rule("io.load-nothing", severity="error", needs="steps, end, crash")
def load_nothing(run: Evidence) -> Iterator[Proof]:
    """A checkpoint is loaded with `strict=False`, and its names match nothing in the model.

    Why it matters: the model keeps its random weights, without a word; the fine-tuning starts from nothing.

    What to do: rename the keys so that they match, and print what `load_state_dict` returns.

    How it is found: not one of the names given to `load_state_dict` is in the model; or most of them are not, and would
    be with another prefix, with the very same shapes; or the model was given its own values.

    Bad:
        model.load_state_dict(torch.load("ddp.pt"), strict=False)             # keys begin with "module."
    Good:
        weights = {k.removeprefix("module."): v for k, v in torch.load("ddp.pt").items()}
        model.load_state_dict(weights)
    """
    for loading in run.checkpoints.loadings:
        nothing = bool(loading.missing) and loading.matched <= 0
        if nothing or len(loading.shapes_fit) > max(2, loading.given // 2):
            yield _unmatched(loading)
        elif loading.given and loading.own == loading.given and _filled_by_nothing(run, loading):
            yield Proof(
                where=loading.place,
                message=f"{loading.type} is loaded with its own values: none come from the checkpoint",
                label=f"all {loading.given} tensors are the model's own",
                evidence={"given": loading.given},
                fix="compare the names in the checkpoint with those of the model; none match",
            )


def _unmatched(loading: Loading) -> Proof:
    matched = max(loading.matched, 0)
    pair = loading.shapes_fit[0] if loading.shapes_fit else None
    fix = "print the result of load_state_dict, and rename the keys so that they match"
    if pair is not None and pair[0].endswith(pair[1]):
        prefix = pair[0].removesuffix(pair[1])
        fix = f"remove the prefix: {{k.removeprefix('{prefix}'): v for k, v in state.items()}}"
    elif pair is not None:
        fix = f"add the prefix: {{'{pair[1].removesuffix(pair[0])}' + k: v for k, v in state.items()}}"
    example = f"'{pair[0]}' is given, '{pair[1]}' is wanted" if pair is not None else ""
    if not example and loading.unexpected:
        example = f"'{loading.unexpected[0]}' is given, '{loading.missing[0]}' is wanted"
    return Proof(
        where=loading.place,
        message=f"{matched or 'none'} of the {loading.given} tensors in the checkpoint "
        f"{'go' if matched else 'goes'} into {loading.type}: it keeps its random weights",
        label=example or "nothing was given",
        evidence={
            "matched": matched,
            "given": loading.given,
            "missing": loading.missing[:6],
            "unexpected": loading.unexpected[:6],
        },
        fix=fix,
    )


def _filled_by_nothing(run: Evidence, loading: Loading) -> bool:
    """The model's own state, taken just now and (as the file that was read tells) meant to be updated from it."""
    fresh = loading.taken is not None and loading.taken.step == loading.step
    return fresh and any(read.step == loading.step for read in run.checkpoints.reads)
