"""torchinfo: a table of layers."""

from __future__ import annotations

from inspectors.nets import Case

REQUIREMENTS = ["torch==2.13.0", "numpy", "torchinfo"]


def summary(case: Case) -> None:
    import torchinfo

    columns = ("input_size", "output_size", "num_params", "mult_adds")
    assert "params" in str(torchinfo.summary(case.model, input_data=case.inputs, verbose=0, col_names=columns))


TOOLS = {"summary": ("forward", summary)}
