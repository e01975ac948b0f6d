from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made
from stepscope.records import Severity


@rule("opt.momentum", severity="warning")
def momentum(run: Evidence) -> Iterator[Proof]:
    """Momentum, the betas of Adam or its eps have a value that makes no sense.

    Why it matters: with a momentum of 1 old gradients are never forgotten, and the weights swing without end; with
    swapped betas Adam averages the gradient over a thousand steps and its size over ten.

    What to do: momentum 0.9; betas (0.9, 0.999); eps 1e-8.

    How it is found: the optimizer's own settings.

    Bad:
        torch.optim.Adam(model.parameters(), betas=(0.999, 0.9))
    Good:
        torch.optim.Adam(model.parameters(), betas=(0.9, 0.999))
    """
    seen = set()
    for made in run.optimizers.made:
        said = _wrong(made)
        if said is None or made.place in seen:
            continue
        seen.add(made.place)
        message, fix, severity = said
        yield Proof(
            where=made.place,
            message=message,
            label=f"this {made.type}",
            evidence={k: v for k, v in made.defaults.items() if k in ("momentum", "betas", "eps", "lr", "dampening")},
            edit=edits.keyword(made.place, *fix.partition(", the other")[0].split("=", 1))
            if severity != "info"
            else None,
            fix=fix,
            severity=severity,
        )


def _wrong(made: Made) -> tuple[str, str, Severity | None] | None:
    momentum, betas, eps = (made.defaults.get(name) for name in ("momentum", "betas", "eps"))
    if isinstance(momentum, (int, float)) and momentum >= 1:
        return f"momentum={momentum} never forgets an old gradient: the steps grow without bound", "momentum=0.9", None
    pair = tuple(float(b) for b in betas) if isinstance(betas, tuple) and len(betas) == 2 else None
    if pair is not None and pair[0] > pair[1]:
        likely = pair[0] >= 0.99 and pair[1] >= 0.5
        swapped = f"betas=({pair[1]:g}, {pair[0]:g})"
        message = f"betas={pair} look swapped: the gradient is averaged longer than its square"
        return message, f"{swapped}, the other way round", None if likely else "info"
    if made.type.startswith("Adam") and isinstance(eps, float) and (eps >= 1e-2 or eps == 0):
        return f"eps={eps:g} is unusual for {made.type}: 1e-8 is the default", "eps=1e-8", "info"
    return None
