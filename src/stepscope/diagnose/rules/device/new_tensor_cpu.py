from __future__ import annotations

from collections.abc import Iterable, Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.device_causes import Cause, causes
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("device.new-tensor-cpu", severity="error", needs="steps, crash")
def new_tensor_cpu(run: Evidence) -> Iterator[Proof]:
    """A tensor is made without a device and then meets tensors that were moved to the chosen one.

    Why it matters: on a CPU it works; on a GPU the script dies with "Expected all tensors to be on the same device".

    What to do: make it where the others are: `torch.randn_like(x)`, or `torch.randn(n, device=x.device)`.

    How it is found: every tensor is followed from where it was made; moves to the device are seen even where they
    change nothing. So no accelerator is needed to find it.

    Bad:
        noise = torch.randn(mu.shape)
    Good:
        noise = torch.randn_like(mu)
    """
    for cause, *others in _by_meeting(causes(run, "created")):
        met = cause.meeting.place.site if cause.meeting.place is not None else None
        line = f" on line {met.line}" if met is not None else ""
        shape = list(cause.root.shape)
        yield Proof(
            where=cause.where,
            message=f"{cause.root.op}() makes a tensor on the CPU, which then meets tensors of the chosen device",
            label=f"a {shape} tensor without a device; {cause.meeting.op}{line} mixes it with a moved one",
            evidence={"op": cause.root.op, "shape": shape, "meets_at_line": None if met is None else met.line},
            edit=edits.both(*(tensors.on_device_of_input(one.where) for one in (cause, *others))),
            fix=_fix(cause.root.op),
            related=[
                *((one.where, "the same holds for this one") for one in others),
                (cause.meeting.place, "it meets a tensor on the chosen device here"),
            ],
        )


def _by_meeting(found: Iterable[Cause]) -> list[list[Cause]]:
    """Causes that meet moved tensors in one operation (the two states of an LSTM) are one fault."""
    meetings: dict[object, list[Cause]] = {}
    for cause in found:
        meetings.setdefault(cause.meeting.place or cause.where, []).append(cause)
    return list(meetings.values())


def _fix(op: str) -> str:
    alike = {"randn", "rand", "zeros", "ones", "full", "empty", "randint"}
    if op in alike:
        return f"use torch.{op}_like(...), or pass device= (the device of the tensor it meets)"
    if op in ("from_numpy", "as_tensor", "tensor"):
        return "add .to(device) here, or pass device="
    return "pass device= (the device of the tensor it meets)"
