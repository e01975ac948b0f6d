from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.step import Site


@rule("mode.bn-small-batch", severity="error", needs="crash")
def bn_small_batch(run: Evidence) -> Iterator[Proof]:
    """A batch norm in training mode was given a batch with a single value per channel.

    Why it matters: one value has no spread to normalise by. It is the last batch of an epoch with one sample left, or a
    single sample tried out before `eval()`.

    What to do: `DataLoader(..., drop_last=True)`, or `model.eval()` before trying single samples.

    Bad:
        loader = DataLoader(data, batch_size=32)                       # 65 samples: the last batch has one
    Good:
        loader = DataLoader(data, batch_size=32, drop_last=True)
    """
    crash = run.crash
    if crash is None or not crash.says(r"expected more than 1 value per channel", r"more than 1 spatial element"):
        return
    layer = crash.layer
    shape = [] if layer is None or layer.input is None else list(layer.input.shape)
    name = "a normalisation layer" if layer is None else layer.name
    evidence = {"layer": name, "input_shape": shape}
    for loader in crash.loaders:
        size = loader.batch_size
        if isinstance(size, int) and size > 1 and not loader.drop_last and len(loader.sampler) % size == 1:  # type: ignore[arg-type]
            yield Proof(
                where=made_at(crash, loader) or crash.site,
                message=f"the last batch has one sample ({len(loader.sampler)} in batches of {size}), "  # type: ignore[arg-type]
                f"too few for {name}",
                label=f"{len(loader.sampler)} % {size} = 1",  # type: ignore[arg-type]
                evidence={**evidence, "samples": len(loader.sampler), "batch_size": size},  # type: ignore[arg-type]
                fix="give the DataLoader drop_last=True",
                related=[(crash.site, "it fails here")],
            )
            return
    if len(crash.loaders) == 1 and crash.loaders[0].batch_size == 1:
        where = made_at(crash, crash.loaders[0])
        fix = "use a batch size above 1, or a layer that does not look at the batch (GroupNorm, LayerNorm)"
    else:
        where = None if not crash.own else _call(crash)
        fix = "call model.eval() before trying single samples, or give it more than one"
    yield Proof(
        where=where or crash.site,
        message=f"{name} is in training mode and was given one value per channel",
        label=f"input {shape}",
        evidence=evidence,
        fix=fix,
        related=[] if layer is None else [(layer.site, "the layer was built here")],
    )


def _call(crash: Crash) -> Site | None:
    """The line outside of any module that called the model."""
    outside = [frame for frame in crash.own if frame.module is None]
    return outside[-1].site if outside else None
