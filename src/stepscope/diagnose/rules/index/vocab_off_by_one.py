from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.own_lines import own_line
from stepscope.diagnose.crash.ranges import range_fault
from stepscope.diagnose.crash.written_sizes import size_written
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site

_MAKERS = frozenset(
    {"randint", "random_integers", "integers", "tensor", "from_numpy", "as_tensor", "LongTensor", "add"}
)


@rule("index.vocab-off-by-one", severity="error", needs="crash")
def vocab_off_by_one(run: Evidence) -> Iterator[Proof]:
    """Ids go up to and including the size of the vocabulary, one past the end of the table.

    Why it matters: a table of n rows has ids 0 to n-1. Counting from 1, or an inclusive upper bound, gives the id n.

    What to do: count ids from 0 (or make the table one row larger, when id 0 is kept for padding).

    Bad:
        ids = {word: i for i, word in enumerate(words, 1)}
        embedding = nn.Embedding(len(words), 64)
    Good:
        ids = {word: i for i, word in enumerate(words, 1)}
        embedding = nn.Embedding(len(words) + 1, 64)       # 0 is padding
    """
    crash = run.crash
    fault = None if crash is None else range_fault(crash)
    if crash is None or fault is None or fault.kind != "vocab-off-by-one" or fault.tensor is None:
        return
    built = None if fault.root is None else own_line(crash, fault.root, fault.path)
    written = size_written(run.source, built, "num_embeddings", fault.size, counted=True)
    made = _inclusive(crash, fault.tensor, fault.size)
    yield Proof(
        where=made or written or fault.site,
        message=f"the ids go up to {fault.high}, and a table of {fault.size} rows ends at {fault.size - 1}",
        label=f"ids {fault.low} to {fault.high}",
        evidence={"rows": fault.size, "smallest_id": fault.low, "largest_id": fault.high},
        edit=None if made is not None else layers.one_more_row(built),
        fix=f"make ids below {fault.size}, or build the table with {fault.size + 1} rows",
        related=[(built, f"a table of {fault.size} rows")] if built is not None and (made or written) != built else [],
    )


def _inclusive(crash: Crash, ids: HeldTensor, size: int) -> Site | None:
    """The random draw whose upper bound lets the id `size` through."""
    origin = ids.origin
    for past in origin.ancestors(200) if origin is not None else ():
        bounds = [value for value in past.arguments.values() if isinstance(value, int)] if past.op == "randint" else []
        if bounds and max(bounds) > size and past.place is not None:
            return past.place.site
    return None
