from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.crash.samples import odd_samples, sample_source
from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_LISTS = (
    "keep one entry per sample in a list: collate_fn=lambda samples: tuple(zip(*samples)); loop over them in the model"
)
_PADDED = (
    "pad them in a collate_fn: def collate(samples): xs, ys = zip(*samples); "
    "return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True), torch.tensor(ys)"
)


@rule("shape.collate-ragged", severity="error", needs="crash")
def collate_ragged(run: Evidence) -> Iterator[Proof]:
    """Samples of different lengths cannot be stacked into one batch.

    Why it matters: the loader stacks samples with `torch.stack`, which needs them to be of one shape.

    What to do: pad them in a `collate_fn` (`torch.nn.utils.rnn.pad_sequence`), or cut and pad them in the dataset.

    Bad:
        loader = DataLoader(sentences, batch_size=32)
    Good:
        loader = DataLoader(sentences, batch_size=32, collate_fn=pad_sequence)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "collate-ragged":
        return
    usual, odd = odd_samples(crash, fault.facts.get("shapes", []))
    loader = crash.loaders[0] if crash.loaders else None
    made = None if loader is None else made_at(crash, loader)
    source = sample_source(crash)
    part = _entry(crash)
    images = _are_images([usual, *(shape for _, shape in odd)])
    where = f"sample {odd[0][0]} is {list(odd[0][1])}, another is {list(usual)}" if odd else ""
    if images and source is not None:
        yield Proof(
            where=source,
            message="images of different sizes cannot be stacked into one batch",
            label=where,
            evidence={"usual": list(usual), "odd": {str(index): list(shape) for index, shape in odd[:8]}},
            fix="bring every image to one size where it is made: torchvision.transforms.v2.Resize((H, W))",
            related=[] if made is None else [(made, "the loader stacks them")],
        )
        return
    yield Proof(
        where=made or source or crash.site,
        message=f"{f'the entry {part} has' if part else 'samples have'} different shapes, and a loader can only "
        "stack equal ones",
        label=where,
        evidence={"usual": list(usual), "odd": {str(index): list(shape) for index, shape in odd[:8]}},
        fix=f"of images, resize each in __getitem__; of sequences, {_PADDED}"
        if not usual
        else _LISTS
        if part and len(usual) == 2
        else _PADDED,
        related=[(source, "samples are made here")] if made is not None and source is not None else [],
    )


def _entry(crash: Crash) -> str:
    """The key of the dict whose entries were being stacked."""
    keys = [frame.locals.get("key") for frame in crash.frames if "collate" in frame.file]
    return next((f'"{key}"' for key in reversed(keys) if isinstance(key, str)), "")


def _are_images(shapes: list[tuple[int, ...]]) -> bool:
    """Whether only height and width differ, of maps with one, three or four channels."""
    channels = {shape[0] for shape in shapes if len(shape) == 3}
    return len(channels) == 1 and channels <= {1, 3, 4} and all(len(shape) == 3 for shape in shapes)
