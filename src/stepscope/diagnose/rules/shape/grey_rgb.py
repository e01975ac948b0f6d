from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.crash.samples import odd_samples, sample_source
from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("shape.grey-rgb", severity="error", needs="crash")
def grey_rgb(run: Evidence) -> Iterator[Proof]:
    """Some images of the dataset have a different number of channels than the rest.

    Why it matters: one gray image (or one with transparency) among color images ends the run in mid-epoch.

    What to do: convert all images to the same mode when they are loaded, for example
    `Image.open(path).convert("RGB")`.

    Bad:
        image = Image.open(path)
    Good:
        image = Image.open(path).convert("RGB")
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "grey-rgb":
        return
    source = sample_source(crash)
    if fault.layer is not None and fault.expected is not None and fault.tensor is not None:
        loader = crash.loaders[0] if crash.loaders else None
        yield Proof(
            where=source or (made_at(crash, loader) if loader is not None else None) or crash.site,
            message=f"an image with {fault.given} channel(s) is among images with {fault.expected.size}",
            label=f"this batch is {list(fault.tensor.shape)}",
            evidence={"input_shape": list(fault.tensor.shape), "expected_channels": fault.expected.size},
            fix=f"convert every image to {fault.expected.size} channels when it is loaded, e.g. .convert('RGB')",
            related=[(crash.site, f"{fault.layer.name} fails here")],
        )
        return
    shapes = fault.facts.get("shapes", [])
    usual, odd = odd_samples(crash, shapes)
    yield Proof(
        where=source or crash.site,
        message=f"images with {odd[0][1][0]} and with {usual[0]} channels cannot form one batch",
        label=f"sample {odd[0][0]} is {list(odd[0][1])}, the others are {list(usual)}",
        evidence={"usual": list(usual), "odd": {str(index): list(shape) for index, shape in odd}},
        fix=f"convert every image to {usual[0]} channels when it is loaded, e.g. .convert('RGB')",
    )
