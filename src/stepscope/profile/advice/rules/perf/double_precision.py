from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.double-precision", needs="profile")
def double_precision(run: Measured) -> Iterator[Tip]:
    """The model computes in float64.

    Why it matters: float64 is half as fast as float32 on a processor and 2 to 64 times slower on an accelerator, with
    twice the memory. NumPy's default causes it unnoticed.

    What to do: `.float()` where the data comes in, and no `torch.set_default_dtype(torch.float64)`.

    How it is found: most matrix products of a step had float64 results. The saving on a processor is 80% of what a
    large product in float32 gained on this machine (40% of forward and backward where that was not measured); on a
    device, 70% of the kernels in double precision.

    Bad:
        x = torch.from_numpy(frame.values)            # float64
    Good:
        x = torch.from_numpy(frame.values).float()
    """
    dtypes = run.facts.get("amp", {}).get("dtypes", {})
    double, total = int(dtypes.get("float64", 0)), sum(int(count) for count in dtypes.values())
    if not total or double < 0.5 * total:
        return
    if run.gpu is not None:
        time = run.on_device(
            run.gpu.kernel_time(lambda name: "double" in name or "f64" in name or "dgemm" in name.lower())
        )
        saving = 0.7 * time
    else:
        time = run.part("forward") + run.part("backward") or run.step_ns - run.part("data") - run.part("optimizer")
        gain = run.machine.double_gain
        saving = time * (1 - 1 / gain) * 0.8 if gain > 1 else 0.4 * time
    flag = run.flags.get("default_dtype") == "float64"
    yield Tip(
        where=run.line_with("float64", ".double("),
        message=f"{double} of {total} matrix products are in float64" + (" (it is the default dtype)" * flag),
        fix="use float32: .float() where the data comes in",
        share=run.share(time),
        saving_ns=int(saving),
        how="70% of float64 kernels" if run.gpu is not None else "what float32 gives a large product on this machine",
        evidence={"float64": double, "products": total},
        part="products",
        trial=Trial("float32", {}),
    )
