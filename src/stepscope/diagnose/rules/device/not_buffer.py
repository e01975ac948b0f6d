from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.device_causes import causes
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("device.not-buffer", severity="error", needs="steps, crash")
def not_buffer(run: Evidence) -> Iterator[Proof]:
    """A constant tensor is a plain attribute of a module, so `model.to(device)` leaves it behind.

    Why it matters: on a GPU the forward pass dies with "Expected all tensors to be on the same device", and the
    constant is missing from the checkpoint.

    What to do: register it as a buffer; it then moves and is saved with the module.

    How it is found: the forward pass of a moved module mixes moved tensors with an attribute that is neither a
    parameter nor a buffer and was never moved.

    Bad:
        self.scale = torch.ones(10)
    Good:
        self.register_buffer("scale", torch.ones(10))
    """
    for cause in causes(run, "attribute"):
        module, name = cause.meeting.attribute or (None, "?")
        kind = "" if module is None else module.type
        yield Proof(
            where=cause.where,
            message=f"self.{name} of {kind} is a plain tensor: model.to(device) does not move it",
            label=f"a {list(cause.root.shape)} tensor that is neither parameter nor buffer",
            evidence={"attribute": name, "module": kind, "shape": list(cause.root.shape)},
            edit=layers.registered(cause.where, name),
            fix=f'self.register_buffer("{name}", ...) instead of self.{name} = ...',
            related=[(cause.meeting.place, "it meets a tensor on the chosen device here")],
        )
