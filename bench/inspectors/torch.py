"""What torch brings itself."""

from __future__ import annotations

from inspectors.nets import Case

REQUIREMENTS: list[str] = []  # the torch of this venv


def export(case: Case) -> None:
    import torch

    assert torch.export.export(case.model, (case.inputs,)).graph_module


def anomaly(case: Case) -> None:
    import torch

    with torch.autograd.set_detect_anomaly(True):
        case.step()


def profiler(case: Case) -> None:
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        case.steps()


TOOLS = {"export": ("forward", export), "detect_anomaly": ("step", anomaly), "profiler": ("steps", profiler)}
