from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.data-parallel", needs="profile", device="gpu")
def data_parallel(run: Measured) -> Iterator[Tip]:
    """The model is trained with `DataParallel`.

    Why it matters: one Python process drives all devices, and the whole model is copied to each of them in
    every step. `DistributedDataParallel` has a process for each device and exchanges only gradients, while
    backward runs.

    What to do: start the script with `torchrun --nproc-per-node=N` and use `DistributedDataParallel`.

    How it is found: the model that runs is a `DataParallel`; copies between devices and exposed communication
    are the least that is saved.

    Bad:
        model = nn.DataParallel(model).cuda()
    Good:
        model = DistributedDataParallel(model.to(local_rank), device_ids=[local_rank])
    """
    if not any(one.get("data_parallel") for one in run.facts.get("models", [])):
        return
    gpu = run.gpu
    copies = 0 if gpu is None else gpu.per_step(gpu.copies("PtoP")) + gpu.parts.get("communication", 0)
    yield Tip(
        where=None,
        message="nn.DataParallel copies the whole model to every device in every step",
        fix="DistributedDataParallel, started with torchrun",
        share=run.share(run.on_device(copies)) or 0.02,
        saving_ns=run.on_device(copies * 0.8),
        how="most of the copies between devices",
        evidence={"ms": round(copies / 1e6, 3)},
        part="communication",
    )
