from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_NAMES = {"HtoD": "to the device", "DtoH": "to the host", "DtoD": "on the device", "PtoP": "between devices"}


@rule("perf.copies-exposed", needs="profile", device="gpu")
def copies_exposed(run: Measured) -> Iterator[Tip]:
    """A large part of each step the device does nothing but copy.

    Why it matters: copies have engines of their own and can run while the device computes; where they do not,
    kernels wait for them.

    What to do: move the next batch on a stream of its own while this one is trained on, keep on the device what is
    reused, and bring back to the host only what is read there.

    How it is found: the time in which a copy runs and no kernel does is a tenth of the step or more.

    Bad:
        features = [model(x.cuda()).cpu() for x in batches]
    Good:
        features = [model(x.cuda(non_blocking=True)) for x in batches]    # and one .cpu() at the end
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns:
        return
    exposed = gpu.parts.get("memcpy", 0)
    if run.share(exposed) < 0.1:
        return
    times = {name: gpu.per_step(gpu.copies(name)) for name in _NAMES}
    most = max(times, key=lambda name: times[name])
    total = max(1, sum(times.values()))
    moved = gpu.copied_bytes(gpu.copies(most))
    calls = [one for one in run.calls(fetching=False) if one.get("target") and one.get("bytes")]
    towards_host = [one for one in calls if (one["target"] == "cpu") == (most == "DtoH")]
    largest = max(towards_host, key=lambda one: int(one["bytes"]), default={})
    yield Tip(
        where=run.where(largest) if most in ("HtoD", "DtoH") and largest else None,
        message=f"{run.share(exposed):.0%} of the step is copying that does not overlap with compute, "
        f"most of it {_NAMES[most]}",
        fix="copy while the device computes, keep on the device what is reused",
        share=run.share(run.on_device(exposed)),
        saving_ns=run.on_device(exposed * times[most] / total * 0.7),
        how="most of the exposed copies, if they ran beside kernels",
        evidence={"exposed_ms": round(exposed / 1e6, 3), "bytes": moved, "direction": most},
        part="copy",
    )
