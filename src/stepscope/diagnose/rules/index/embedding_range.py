from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.narrow_cast import narrow_cast, narrowed
from stepscope.diagnose.crash.own_lines import own_line
from stepscope.diagnose.crash.ranges import range_fault
from stepscope.diagnose.crash.written_sizes import size_written
from stepscope.diagnose.crash.written_value import filled_with
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("index.embedding-range", severity="error", needs="crash", follows=("shape.too-long",))
def embedding_range(run: Evidence) -> Iterator[Proof]:
    """An id or a position is larger than the embedding's table.

    Why it matters: the lookup stops (on a GPU with an assertion that names no line).

    What to do: build the table for the largest id plus one, or map unknown ids and cut long sequences.

    Bad:
        self.position = nn.Embedding(128, dim)      # sequences of 200 tokens
    Good:
        self.position = nn.Embedding(512, dim)
    """
    crash = run.crash
    fault = None if crash is None else range_fault(crash)
    if crash is None or fault is None or fault.kind != "embedding-range" or fault.tensor is None:
        return
    narrow = narrow_cast(run, crash, fault.tensor, fault.size) if fault.low < 0 else None
    if narrow is not None:
        yield narrowed(crash, narrow, "ids", fault.size, fault.low)
        return
    filler = filled_with(run, crash, fault.tensor, fault.low) if fault.low < 0 else None
    if filler is not None:
        yield Proof(
            where=filler,
            message=f"the ids are filled up with {fault.low} here, and the rows of an embedding are numbered 0 to "
            f"{fault.size - 1}",
            label=f"puts {fault.low} among the ids",
            evidence={"rows": fault.size, "smallest_id": fault.low},
            fix="pad with an id of the table that stands for no word, such as 0, and give the Embedding padding_idx=0",
            related=[(fault.site, "the ids come in here")],
        )
        return
    site = None if fault.root is None else own_line(crash, fault.root, fault.path)
    written = size_written(run.source, site, "num_embeddings", fault.size)
    kind = "" if fault.module is None else fault.module.type
    name = "the embedding" if fault.module is None else f"{fault.path} ({kind})" if fault.path else kind
    bad = f"{fault.low}" if fault.low < 0 else f"{fault.high}"
    right = fault.high + 1
    yield Proof(
        where=fault.site if fault.low < 0 else written or fault.site,
        message=f"{name} has {fault.size} rows, 0 to {fault.size - 1}, but row {bad} was requested",
        label=f"ids {fault.low} to {fault.high}, table of {fault.size}",
        evidence={
            "rows": fault.size,
            "smallest_id": fault.low,
            "largest_id": fault.high,
            "shape": list(fault.tensor.shape),
        },
        fix="ids must not be negative; mask or shift them first"
        if fault.low < 0
        else f"num_embeddings must be at least {right} for these ids, or the ids must stay below {fault.size}",
        related=[*([(site, f"{name} is built here")] if written != site else []), (fault.site, "the ids come in here")],
    )
