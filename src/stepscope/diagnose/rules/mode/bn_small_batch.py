from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.step import Site

if TYPE_CHECKING:
    from stepscope.diagnose.crash.crash import Crash

_FEW = 4


@rule("mode.bn-small-batch", severity="error", needs="steps, crash")
def bn_small_batch(run: Evidence) -> Iterator[Proof]:
    """A batch norm in training mode has almost no values per channel to normalize over.

    Why it matters: one value has no spread, and torch rejects it: it is the last batch of an epoch with one sample
    left, or a single sample tried out before `eval()`. Two always come out as -1 and +1, whatever they were.

    What to do: `DataLoader(..., drop_last=True)`, or `model.eval()` before trying single samples; with small batches a
    layer that does not look at the batch (GroupNorm, LayerNorm).

    How it is found: the exception; or every training batch so far gave the layer two to four values per channel.

    Bad:
        loader = DataLoader(data, batch_size=32)                       # 65 samples: the last batch has one
    Good:
        loader = DataLoader(data, batch_size=32, drop_last=True)
    """
    crash = run.crash
    if crash is None:
        yield from _few_values(run)
        return
    if not crash.says(r"expected more than 1 value per channel", r"more than 1 spatial element"):
        return
    from stepscope.diagnose.crash.provenance import made_at

    layer = crash.layer
    shape = [] if layer is None or layer.input is None else list(layer.input.shape)
    name = "a normalization layer" if layer is None else layer.name
    evidence = {"layer": name, "input_shape": shape}
    for loader in crash.loaders:
        size, samples = loader.batch_size, loader.samples
        if size is not None and size > 1 and not loader.drop_last and samples is not None and samples % size == 1:
            yield Proof(
                where=made_at(crash, loader) or crash.site,
                message=f"the last batch has one sample ({samples} in batches of {size}), too few for {name}",
                label=f"{samples} % {size} = 1",
                evidence={**evidence, "samples": samples, "batch_size": size},
                edit=edits.keyword(made_at(crash, loader), "drop_last", "True"),
                fix="give the DataLoader drop_last=True",
                related=[(crash.site, "it fails here")],
            )
            return
    if len(crash.loaders) == 1 and crash.loaders[0].batch_size == 1:
        where = made_at(crash, crash.loaders[0])
        fix = "use a batch size above 1, or a layer that does not depend on the batch (GroupNorm, LayerNorm)"
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


def _few_values(run: Evidence) -> Iterator[Proof]:
    """Layers whose every batch had two to four values per channel."""
    few = {
        path: seen
        for path, seen in run.forwards.norm_batches.items()
        if len(seen) >= 5 and all(values <= _FEW for _, values in seen)
    }
    if not few:
        return
    path, seen = min(few.items(), key=lambda item: item[1][0][1])
    samples, values = seen[0]
    loader = next((one for one in run.loaders.all if one.is_training and one.batch_size == samples), None)
    module = next((part for model in run.models.present if (part := model.module.part(path)) is not None), None)
    built = None if module is None else module.made
    where = loader.made if loader is not None and loader.made is not None else built
    yield Proof(
        where=where,
        message=f"batch norm {path or 'layer'} normalizes over {values} values per channel: that is mostly noise",
        label=f"batches of {samples}",
        evidence={"layers": sorted(few), "batch_size": samples, "values_per_channel": values},
        fix="use larger batches, or GroupNorm or LayerNorm instead",
        related=[(built, "the layer was built here")] if built is not None else (),
        severity="warning",
    )


def _call(crash: Crash) -> Site | None:
    """The line outside of any module that called the model."""
    outside = [frame for frame in crash.own if frame.module is None]
    return outside[-1].site if outside else None
