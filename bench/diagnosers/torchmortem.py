"""torchmortem: an `Autopsy` around the training loop, told of each step's loss, read at the end.

Driven: attached before the model's first call; `autopsy.step(loss=...)` after each step of its optimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

REQUIREMENTS = ["torch==2.13.0", "numpy", "scikit-learn", "torchmortem==0.1.1"]
NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "torchmortem": {
        "Vanishing gradients": ("grad.vanishing", "grad.saturated", "init.*", "loss.double-sigmoid", "grad.dead-relu"),
        "Exploding gradients": ("grad.exploding", "opt.lr-too-high", "init.scale", "opt.no-zero-grad", "num.*"),
        "Gradient stalling": ("grad.*", "autograd.rewrapped-loss", "init.*", "opt.wrong-params"),
        "Dead units": ("grad.dead-relu", "init.*"),
        "Activation saturation": ("grad.saturated", "loss.double-sigmoid", "model.output-activation", "init.scale"),
        "Update ratio too low": ("opt.lr-too-low", "opt.no-step", "opt.scheduler-per-micro", "opt.lambda-absolute-lr"),
        "Update ratio too high": ("opt.lr-too-high", "opt.weight-decay-high", "opt.momentum"),
        "Training divergence": (
            "opt.lr-too-high", "grad.exploding", "num.*", "loss.sign", "opt.no-zero-grad", "opt.momentum", "rl.*",
        ),
        "Loss plateau": (
            "opt.no-step", "opt.lr-too-low", "opt.stale-params", "opt.rebound-param", "init.*", "loss.broadcast",
            "autograd.rewrapped-loss", "grad.*",
        ),
        "Catapult phase": ("opt.lr-too-high",),
        "Rank collapse": ("init.constant", "init.zeros", "model.shared-by-multiply"),
        "Weight norm explosion": ("opt.lr-too-high", "grad.exploding", "loss.sign"),
        "Stagnant weight norms": (
            "opt.no-step", "opt.missing-params", "opt.stale-params", "opt.lr-too-low", "opt.rebound-param",
            "opt.wrong-params", "grad.frozen-by-mistake", "model.unused-layer", "grad.unused-parameter",
        ),
        "Inter-layer weight norm imbalance": ("init.scale",),
        "High gradient noise": ("mode.bn-small-batch",),
    }
}  # fmt: skip


def suited(entries: list[Any]) -> list[Any]:
    return entries


def warm_up() -> None:
    import torchmortem  # noqa: F401


def begin(tool: str, script: str, faults: list[str]) -> Callable[[str, str], list[dict[str, Any]]]:
    from torchmortem import Autopsy

    from diagnosers.seen import Seen

    autopsies: list[tuple[Any, Any]] = []

    def pair(model: Any, optimizer: Any) -> None:
        autopsy = Autopsy(model, optimizer=optimizer)
        autopsy.attach()
        autopsies.append((optimizer, autopsy))

    def stepped(optimizer: Any, loss: float | None) -> None:
        for own, autopsy in autopsies:
            if own is optimizer:
                autopsy.step(**({} if loss is None else {"loss": loss}))

    Seen(pair, stepped)

    def end(printed: str, complained: str) -> list[dict[str, Any]]:
        if not autopsies:
            faults.append("no model with an optimizer was called: not driven")
        found: dict[str, dict[str, Any]] = {}
        for _, autopsy in autopsies:
            autopsy.detach()
            for finding in autopsy._report.findings:
                kind = next((kind for kind in NAMES[tool] if finding.title.startswith(kind)), finding.title)
                found[kind] = {"kind": kind, "loud": finding.severity.value > 0, "said": finding.summary, "line": None}
        return list(found.values())

    return end
