from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.device_causes import causes
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("device.module-not-moved", severity="error", needs="steps, crash")
def module_not_moved(run: Evidence) -> Iterator[Proof]:
    """The data is moved to the chosen device, a module is not.

    Why it matters: on a GPU the first step dies with "Expected all tensors to be on the same device".

    What to do: `model.to(device)`, for every model, and again for layers that are added later.

    How it is found: a tensor that was moved goes through a layer none of whose parameters ever was.

    Bad:
        model = Net()
        loss = criterion(model(x.to(device)), y.to(device))
    Good:
        model = Net().to(device)
        loss = criterion(model(x.to(device)), y.to(device))
    """
    for cause in causes(run, "module"):
        module = cause.meeting.module
        if module is None or any(p.device != "cpu" for p in module.parameters()):
            continue
        holders = [part for part in module.modules() if part.own]
        if any(part.made is None for part in holders):
            continue  # a copy of one that may have been moved
        call = run.source.call(cause.where)
        if call is not None and any(keyword.arg == "device" for keyword in call.keywords):
            continue  # made on the device
        yield Proof(
            where=cause.where,
            message=f"{module.type} is never moved to the device that its input is moved to",
            label="made here, and never .to(device)",
            evidence={"module": module.type, "op": cause.meeting.op},
            fix="add .to(device)",
            related=[(cause.meeting.place, "it meets a tensor on the chosen device here")],
        )
