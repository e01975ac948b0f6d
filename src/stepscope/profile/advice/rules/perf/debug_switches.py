from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.debug-switches", needs="profile")
def debug_switches(run: Measured) -> Iterator[Tip]:
    """A debugging switch is left on.

    Why it matters: anomaly detection keeps a traceback for each operation and checks every gradient for NaN
    (1.5 to 5 times slower); `CUDA_LAUNCH_BLOCKING=1` waits for every kernel; `TORCH_DISTRIBUTED_DEBUG=DETAIL`
    checks every collective; deterministic algorithms are slower ones.

    What to do: turn it off for training; `stepscope run` finds the first NaN without it.

    How it is found: the switches as they were in the middle of training. The saving for anomaly detection is a
    third of forward and backward, for blocking launches the idle time of the device.

    Bad:
        torch.autograd.set_detect_anomaly(True)
    Good:
        # nothing: or only around the steps in question
    """
    if run.flags.get("anomaly"):
        work = run.part("forward") + run.part("backward") or run.step_ns - run.part("data") - run.part("optimizer")
        yield Tip(
            where=run.line_with("set_detect_anomaly", "detect_anomaly"),
            message="anomaly detection is left on",
            fix="remove it",
            share=run.share(work),
            saving_ns=work // 3,
            how="a third of forward and backward: the least that was measured",
            evidence={"switch": "anomaly detection"},
            part="switches",
            trial=Trial("flag", {"anomaly": False}),
        )
    environment = run.facts.get("environment", {})
    if environment.get("CUDA_LAUNCH_BLOCKING") == "1" and run.gpu is not None:
        idle = run.idle_beside_data_ns
        yield _environment(run, "CUDA_LAUNCH_BLOCKING=1", idle, "the idle time of the device")
    if environment.get("TORCH_DISTRIBUTED_DEBUG", "").upper() == "DETAIL":
        yield _environment(run, "TORCH_DISTRIBUTED_DEBUG=DETAIL", 0, "")
    if environment.get("PYTORCH_NO_CUDA_MEMORY_CACHING") == "1" and run.gpu is not None:
        _, time = run.gpu.calls(lambda name: "Malloc" in name or "Free" in name)
        yield _environment(run, "PYTORCH_NO_CUDA_MEMORY_CACHING=1", run.on_host(time), "allocating and freeing")
    if run.kind != "cpu" and run.flags.get("deterministic"):
        yield Tip(
            where=run.line_with("use_deterministic_algorithms"),
            message="deterministic algorithms are on; they are slower",
            fix="turn it off when two runs need not agree to the bit",
            share=0.0,
            saving_ns=0,
            severity="info",
            part="switches",
            trial=Trial("flag", {"deterministic": False}),
        )


def _environment(run: Measured, switch: str, saving: int, how: str) -> Tip:
    return Tip(
        where=None,
        message=f"{switch} is set in the environment",
        fix=f"unset {switch.split('=')[0]}",
        share=run.share(saving),
        saving_ns=saving,
        how=how,
        evidence={"switch": switch},
        part="idle",
        severity=None if saving else "info",
    )
