from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.provenance import made_at
from stepscope.diagnose.crash.samples import odd_samples, sample_source
from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


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
    where = f"sample {odd[0][0]} is {list(odd[0][1])}, another is {list(usual)}" if odd else ""
    yield Proof(
        where=made or source or crash.site,
        message="samples of different shapes cannot be stacked into one batch",
        label=where,
        evidence={"usual": list(usual), "odd": {str(index): list(shape) for index, shape in odd[:8]}},
        fix="give the DataLoader a collate_fn that pads, e.g. torch.nn.utils.rnn.pad_sequence",
        related=[(source, "samples are made here")] if made is not None and source is not None else [],
    )
