from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import VIEWS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.loaders import Loader
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_RECURRENT = ("lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
_BACKWARDS = 12
_TIMES = 3


@rule("model.state-carried", severity="warning")
def state_carried(run: Evidence) -> Iterator[Proof]:
    """The hidden state of a recurrent layer is carried from one batch to the next, but the batches are shuffled.

    Why it matters: each sequence starts with what the layer remembers of another, unrelated one. The model learns from
    noise, and its answers depend on what came before.

    What to do: start every batch without a state (`rnn(x)`), or, for one long text, deliver it in order
    (`shuffle=False`).

    How it is found: the state a recurrent layer starts with is the one it ended with a step earlier, and its input
    comes from a loader that shuffles.

    Bad:
        for x, y in DataLoader(sequences, shuffle=True):
            out, h = rnn(x, h)
            h = h.detach()
    Good:
        for x, y in DataLoader(sequences, shuffle=True):
            out, _ = rnn(x)
    """
    found: dict[Place | None, list[tuple[Origin, Loader]]] = {}
    for backward in list(run.steps.backwards)[:_BACKWARDS]:
        if backward.origin is None:
            continue
        for layer in backward.origin.ancestors(800, through=lambda one: one.requires_grad):
            if layer.op in _RECURRENT and layer.step == backward.origin.step and _is_carried(layer):
                loader = _shuffled(layer.inputs[0])
                if loader is not None:
                    found.setdefault(_where(layer), []).append((layer, loader))
                break
    for place, layers in found.items():
        if len(layers) >= _TIMES:
            layer, loader = layers[0]
            yield Proof(
                where=place,
                message="the hidden state of the last batch is the start of this one, but the loader shuffles: the "
                "sequences are unrelated",
                label="starts from the state of other sequences",
                evidence={"times": len(layers), "layer": layer.op},
                fix="do not pass the old state: start each batch without one",
                related=[(loader.made, "shuffled here")],
            )


def _is_carried(layer: Origin) -> bool:
    """Whether its state came out of a recurrent layer in an earlier step."""
    return any(
        state.op in _RECURRENT and state.step < layer.step
        for state in (one.back_through(VIEWS) for one in layer.inputs[1:3])
    )


def _shuffled(given: Origin) -> Loader | None:
    for one in given.ancestors(60):
        if one.loader is not None:
            return one.loader if one.loader.sampler == "RandomSampler" else None
    return None


def _where(layer: Origin) -> Place | None:
    """The call of the model, where the state is passed to it; else the call of the layer."""
    root = None if layer.visit is None else layer.visit.root
    if root is None or root.place is None:
        return layer.place
    states = [one.back_through(VIEWS) for one in layer.inputs[1:3]]
    given = [one.back_through(VIEWS) for one in root.inputs]
    return root.place if any(one is state for one in given for state in states) else layer.place
