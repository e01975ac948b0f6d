from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.diagnose import edits
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.dtypes import DtypeFault, dtype_fault, source_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name


@rule("dtype.double-float", severity="error", needs="crash")
def double_float(run: Evidence) -> Iterator[Proof]:
    """Data of another dtype than the weights meets them, usually NumPy's float64.

    Why it matters: NumPy makes float64 by default, torch's weights are float32, and most operations take only one kind.

    What to do: convert where the tensor is made: `torch.from_numpy(a).float()`, or `torch.tensor(a, dtype=...)`.

    Bad:
        x = torch.from_numpy(features)
    Good:
        x = torch.from_numpy(features).float()
    """
    crash = run.crash
    fault = None if crash is None else dtype_fault(crash)
    if crash is None or fault is None or fault.kind != "double-float":
        return
    if fault.tensor.is_parameter:
        yield _weights(run, crash, fault)
        return
    step = source_of(crash, fault.tensor)
    wrong, right = fault.tensor.dtype, fault.other.dtype
    met = f"{fault.other_name} ({right})"
    yield Proof(
        where=crash.site if step is None else step.site,
        message=f"a {wrong} tensor meets {met}: they must be of one dtype",
        label=f"{wrong}, shape {list(fault.tensor.shape)}",
        evidence={
            fault.name: f"{wrong} {list(fault.tensor.shape)}",
            fault.other_name: f"{right} {list(fault.other.shape)}",
        },
        edit=None if step is None or right != "float32" else edits.append(step.site, ".float()"),
        fix=f"convert it here: .to(torch.{right})" if right != "float32" else "convert it here: .float()",
        related=[] if step is None else [(crash.site, f"it meets {right} here")],
    )


def _weights(run: Evidence, crash: Crash, fault: DtypeFault) -> Proof:
    """It is the model that was converted, and the data was not."""
    wrong, right = fault.tensor.dtype, fault.other.dtype
    short = {"float16": "half", "float64": "double"}.get(wrong, wrong)
    casts = [
        file.site(call)
        for file in run.source.files()
        for call in file.calls(short, "to", "set_default_dtype")
        if called_name(call) == short or f"torch.{wrong}" in ast.unparse(call) or f"torch.{short}" in ast.unparse(call)
    ]
    where = casts[0] if len(casts) == 1 else crash.site
    return Proof(
        where=where,
        message=f"the weights are {wrong}, and {right} data meets them: they must be of one dtype",
        label=f"the model becomes {wrong}",
        evidence={fault.name: f"{wrong} {list(fault.tensor.shape)}", fault.other_name: right},
        fix=f"leave the weights as {right} and run the model under torch.autocast; or convert the data too",
        related=[] if where is crash.site else [(crash.site, f"{right} data comes in here")],
    )
