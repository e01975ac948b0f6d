from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.layer_states import States
from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("shape.hidden-state", severity="error", needs="crash")
def hidden_state(run: Evidence) -> Iterator[Proof]:
    """The hidden state of a recurrent layer is used as if it had one row per sample.

    Why it matters: `h` of `out, h = self.gru(x)` has the shape [layers * directions, batch, hidden], also with
    `batch_first=True`. What is computed from it keeps that first axis, and does not fit the labels.

    What to do: take the state of the last layer, `h[-1]`; of a bidirectional layer `torch.cat([h[-2], h[-1]], dim=1)`.

    How it is found: the failing tensor is followed back to the layer that made it, and its first axis is that of
    the layers.

    Bad:
        _, h = self.gru(x)
        logits = self.fc(h)
    Good:
        _, h = self.gru(x)
        logits = self.fc(h[-1])
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "hidden-state":
        return
    states: States = fault.facts["states"]
    yield Proof(
        where=states.used,
        message=f"the hidden state of {states.layer.type} is {list(states.shape)}: one for each of its layers and "
        "directions, then the batch",
        label=f"its first axis has {states.shape[0]}, and is not the batch",
        evidence={"layer": states.layer.type, "shape": list(states.shape)},
        fix=f"take that of the last layer: {states.last}",
        related=[(crash.site, "it fails here")] if crash.site != states.used else [],
    )
