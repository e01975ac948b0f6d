"""torchlens: every operation of a forward; asked for metadata only, and for its default, which keeps all outputs."""

from __future__ import annotations

from inspectors.nets import Case

REQUIREMENTS = ["torch==2.13.0", "numpy", "torchlens"]


def metadata(case: Case) -> None:
    import torch
    import torchlens
    from torchlens.options import CaptureOptions

    with torch.no_grad():
        trace = torchlens.trace(case.model, case.inputs, capture=CaptureOptions(layers_to_save=None))
    assert len(trace.layer_list) > 5


def everything(case: Case) -> None:
    import torch
    import torchlens

    with torch.no_grad():
        trace = torchlens.trace(case.model, case.inputs)
    assert len(trace.layer_list) > 5


TOOLS = {"trace: metadata": ("forward", metadata), "trace": ("forward", everything)}
