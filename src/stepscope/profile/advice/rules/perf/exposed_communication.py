from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.exposed-communication", needs="profile", device="gpu")
def exposed_communication(run: Measured) -> Iterator[Tip]:
    """Devices exchange gradients while nothing is computed.

    Why it matters: exchange can hide behind backward; what does not is time in which all devices wait.

    What to do: `DistributedDataParallel` with larger buckets (`bucket_cap_mb=100`),
    `gradient_as_bucket_view=True` and `static_graph=True`; `no_sync()` in all but the last step of an
    accumulation; half-precision gradients (`bf16_compress_hook`); a larger batch for each device.

    How it is found: the time in which a collective runs and no kernel does is a tenth of the step or more. The
    saving is half of it.

    Bad:
        model = DistributedDataParallel(model)
    Good:
        model = DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True, static_graph=True)
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns:
        return
    exposed = gpu.parts.get("communication", 0)
    if run.share(exposed) < 0.1:
        return
    collectives = gpu.rows_of_collectives
    total = gpu.per_step(collectives)
    yield Tip(
        where=None,
        message=f"{run.share(exposed):.0%} of the step is communication that does not overlap with compute "
        f"({exposed / max(1, total):.0%} of all of it)",
        fix=_fix(run, gpu),
        share=run.share(run.on_device(exposed)),
        saving_ns=run.on_device(exposed * 0.5),
        how="half of the exposed communication",
        evidence={"exposed_ms": round(exposed / 1e6, 3), "collectives": round(len(collectives) / gpu.steps)},
        part="communication",
    )


def _fix(run: Measured, gpu: DeviceWork) -> str:
    if not gpu.trace.is_collective.any():
        return 'init_process_group("nccl"): gloo moves gradients through host memory'
    if any(one.get("find_unused_parameters") for one in run.facts.get("models", [])):
        return "find_unused_parameters=False, larger buckets"
    return "larger buckets, bf16 gradients, a larger batch"
