from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.divisible import parts_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("shape.not-divisible", severity="error", needs="crash")
def not_divisible(run: Evidence) -> Iterator[Proof]:
    """A size is not a multiple of the number of heads or groups it is to be divided into.

    Why it matters: every head of an attention layer, and every group of a convolution or a GroupNorm, gets the same
    number of values, so the layer cannot be built.

    What to do: choose a size that is a multiple of that number, or another number of heads or groups.

    Bad:
        nn.MultiheadAttention(embed_dim=50, num_heads=8)
    Good:
        nn.MultiheadAttention(embed_dim=48, num_heads=8)
    """
    crash = run.crash
    found = None if crash is None else parts_of(run.source, crash)
    if crash is None or found is None:
        return
    low = found.size // found.parts * found.parts
    near = " or ".join(str(n) for n in (low, low + found.parts) if n)
    yield Proof(
        where=crash.site,
        message=f"{found.size_name}={found.size} is not a multiple of {found.parts_name}={found.parts}",
        label=f"{found.size} / {found.parts} is not a whole number",
        evidence={found.size_name: found.size, found.parts_name: found.parts},
        fix=f"make {found.size_name} {near}, or {found.parts_name} {found.fewer}",
        related=[(found.site, f"{found.size} is written here")] if found.site not in (None, crash.site) else [],
    )
