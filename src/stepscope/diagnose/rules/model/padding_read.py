from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.evidence.padding_trials import PaddingTrial, PaddingTrials

_CHANGE, _SHARE = 0.5, 0.15
_FAR = 2000


@rule(
    "model.padding-read",
    severity="warning",
    follows=("shape.rnn-batch-first", "math.padding-mask-inverted", "math.softmax-*", "model.causal-mask"),
)
def padding_read(run: Evidence) -> Iterator[Proof]:
    """The model's answer for a sequence depends on how much padding stands behind it.

    Why it matters: the amount of padding depends on the longest sequence of the batch, so a sequence is judged
    differently in other company. The last step of a padded batch is the state after many steps of padding, and a mean
    over all steps shrinks with every padded one.

    What to do: take the last real step (`out[torch.arange(n), lengths - 1]`), pack the sequences
    (`pack_padded_sequence`), or multiply with the mask and divide by its sum.

    How it is found: in a forked copy of the process the model is called once more with more padding behind each
    sequence of a batch. Its answers for the same sequences change by at least half of what they differ between samples.

    Bad:
        out, _ = self.gru(self.embed(ids))
        last = out[:, -1]
    Good:
        out, _ = self.gru(self.embed(ids))
        last = out[torch.arange(len(ids)), lengths - 1]
    """
    judged: set[int] = set()
    for trial in run[PaddingTrials].all:
        if id(trial.visit.module) in judged or trial.change < _CHANGE or trial.padding < _SHARE:
            continue
        judged.add(id(trial.visit.module))
        reader = None if trial.each_step else _reader(run, trial)
        yield Proof(
            where=trial.visit.place if reader is None else reader.place,
            message=f"with {trial.added} more padded steps behind each sequence the answers change by "
            f"{trial.change:.0%} of what they differ between samples: the model reads the padding",
            label=_READS.get("" if reader is None else reader.op, "reads padded steps too"),
            evidence={"padding": round(trial.padding, 3), "added": trial.added, "change": round(trial.change, 3)},
            fix="mask the padding in the attention"
            if trial.each_step
            else "take the last real step of each sequence by its length, or leave the padded steps out of the mean",
        )


_READS = {
    "getitem": "the last step is padding for most sequences",
    "select": "the last step is padding for most sequences",
    "mean": "the mean counts padded steps",
    "gru": "the last state comes after the padding",
    "lstm": "the last state comes after the padding",
}


def _reader(run: Evidence, trial: PaddingTrial) -> Origin | None:
    """The operation that leaves one value for all steps of a sequence."""
    axes = (trial.rows, trial.steps)
    calls = [call for call in run.losses.calls if call.trains and call.input is not None]
    roots = [call.input for call in calls if call.input is not None]
    roots += [backward.origin for backward in list(run.steps.backwards)[:20] if backward.origin is not None]
    for root in roots:
        for origin in root.ancestors(_FAR):
            inside = origin.visit is not None and origin.visit.root.module is trial.visit.module
            if inside and origin.inputs and _has(origin.inputs[0], axes) and not _has(origin, axes):
                return origin
    return None


def _has(origin: Origin, axes: tuple[int, int]) -> bool:
    return len(origin.shape) >= 3 and set(axes) <= set(origin.shape[:2])
