from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.position_table import short_table
from stepscope.diagnose.crash.samples import sample_source
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site


@rule("shape.too-long", severity="error", needs="crash")
def too_long(run: Evidence) -> Iterator[Proof]:
    """A sequence has more tokens than the model has positions.

    Why it matters: models with learned positions have a table of them; there is no row for a later token, and the
    error names an embedding or an expanded size, not the sequence.

    What to do: cut sequences when they are made (`truncation=True, max_length=...`), or build the model with more
    positions.

    Bad:
        batch = tokenizer(texts, padding=True)
    Good:
        batch = tokenizer(texts, padding=True, truncation=True, max_length=model.config.max_position_embeddings)
    """
    crash = run.crash
    if crash is None or not crash.is_a("RuntimeError", "IndexError"):
        return
    table = short_table(crash)
    if table is not None:
        yield Proof(
            where=table.site or crash.site,
            message=f"sequences of {table.wanted} positions, but `{table.name}` has {table.rows}",
            label=f"{table.rows} positions",
            evidence={"positions": table.wanted, "table": table.name, "rows": table.rows},
            fix=f"make it with {table.wanted} positions, or cut the sequences to {table.rows}",
            related=[(crash.site, "they are added here")],
        )
        return
    found = _longer(crash)
    if found is None:
        return
    length, limit, name = found
    yield Proof(
        where=sample_source(crash) or _called(crash),
        message=f"sequences of {length} tokens, but the model has {limit} positions",
        label=f"{length} tokens",
        evidence={"tokens": length, name: limit},
        fix=f"cut them to {limit} tokens (truncation=True, max_length={limit}), or build it with {name}={length}",
        related=[(crash.site, "the model fails here")],
    )


def _called(crash: Crash) -> Site | None:
    """Where the model is called, by code that is not the model's own."""
    outside = [frame for frame in crash.own if frame.module is None]
    return outside[-1].site if outside else crash.site


def _longer(crash: Crash) -> tuple[int, int, str] | None:
    """The length of the token ids in a frame of the model, where it is beyond what its config says."""
    for frame in crash.frames:
        seen = None if frame.module is None else crash.modules.get(frame.module)
        ids = frame.locals.get("input_ids")
        if seen is None or not isinstance(ids, HeldTensor) or ids.ndim != 2:
            continue
        for name, limit in seen.limits.items():
            if 0 < limit < ids.shape[1]:
                return ids.shape[1], limit, name
    return None
