"""torch-audit: `autopatch(model, optimizer)`, its zero-touch mode, auditing every step.

Driven: model and optimizer are handed over before the model's first call, as its README does. What it says about the
machine (TA2xx: tensor cores, memory layout, model on a CPU) is left out, to its advantage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

REQUIREMENTS = ["torch==2.13.0", "numpy", "scikit-learn", "torch-audit==0.3.0"]
_NONFINITE = ("num.*", "data.nan-input", "opt.lr-too-high", "grad.exploding", "amp.*", "init.scale")
NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "torch-audit": {
        "TA100": _NONFINITE,  # NaN or Inf detected
        "TA102": ("grad.exploding", "opt.lr-too-high", "init.scale", "opt.no-zero-grad"),  # gradient explosion
        "TA104": (  # no gradients found
            "autograd.*", "grad.*", "opt.step-before-backward", "opt.wrong-params", "opt.stale-params",
            "opt.missing-params", "opt.accum-zeroed", "model.plain-tensor", "model.python-list",
        ),
        "TA105": ("grad.dead-relu", "grad.vanishing", "grad.saturated", "init.*"),  # activation collapse
        "TA300": ("device.*",),
        "TA301": ("data.unscaled-input", "data.double-normalize", "dtype.uint8-wrap"),  # suspicious data range
        "TA302": ("data.aliased-buffer", "data.inplace-dataset"),  # flat or empty data
        "TA303": ("data.view-not-permute", "shape.*"),  # suspicious layout
        "TA304": ("mode.bn-small-batch", "data.drop-last-tiny"),  # tiny batch
        "TA305": ("data.nan-input", "index.*"),  # invalid input values
        "TA400": ("model.bias-before-bn",),
        "TA401": ("opt.weight-decay-high",),
        "TA402": ("opt.weight-decay-high",),
        "TA403": ("opt.weight-decay-high",),
        "TA405": ("init.*",),  # dead convolution filters
        "TA500": ("model.unused-layer", "grad.unused-parameter", "dist.unused-params"),  # zombie layer
        "TA501": ("model.shared-by-multiply",),  # stateful layer reuse
    }
}  # fmt: skip


def suited(entries: list[Any]) -> list[Any]:
    return entries


def warm_up() -> None:
    import torch_audit  # noqa: F401


def begin(tool: str, script: str, faults: list[str]) -> Callable[[str, str], list[dict[str, Any]]]:
    from torch_audit import autopatch

    from diagnosers.seen import Seen

    auditors: list[Any] = []
    Seen(
        lambda model, optimizer: auditors.append(autopatch(model, optimizer=optimizer, every_n_steps=1)),
        lambda optimizer, loss: None,
    )

    def end(printed: str, complained: str) -> list[dict[str, Any]]:
        if not auditors:
            faults.append("no model with an optimizer was called: not driven")
        found: dict[str, dict[str, Any]] = {}
        for auditor in auditors:
            for finding in auditor.findings:
                if finding.rule_id.startswith("TA2"):
                    continue
                if finding.rule_id == "TA000":
                    faults.append(finding.message[:200])
                    continue
                loud = finding.severity.value != "INFO"
                found[finding.rule_id] = {"kind": finding.rule_id, "loud": loud, "said": finding.message, "line": None}
        return list(found.values())

    return end
