from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("shape.concat-channels", severity="error", needs="crash")
def concat_channels(run: Evidence) -> Iterator[Proof]:
    """A layer after a concatenation was built for the size before it.

    Why it matters: `torch.cat` adds the sizes up; a skip connection doubles the channels, and the next layer fails.

    What to do: build the layer after the concatenation for the sum of what goes in.

    Bad:
        self.up = nn.Conv2d(64, 32, 3)
        x = self.up(torch.cat([x, skip], 1))     # 64 + 64 channels
    Good:
        self.up = nn.Conv2d(128, 32, 3)
        x = self.up(torch.cat([x, skip], 1))
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "concat-channels" or fault.layer is None:
        return
    layer, expected, link = fault.layer, fault.expected, fault.link
    if expected is None or link is None or fault.tensor is None:
        return
    yield Proof(
        where=layer.site or crash.site,
        message=f"{layer.name} is built for {expected.size}, but after the concatenation there are {fault.given}",
        label=f"{expected.argument} should be {fault.given}",
        evidence={"layer": layer.name, expected.argument: expected.size, "input_shape": list(fault.tensor.shape)},
        edit=layers.sized(layer.site, expected.argument, fault.given),
        fix=f"set {expected.argument} to {fault.given}",
        related=[(link.site, f"concatenated to {fault.given} here")] if link.site is not None else [],
    )
