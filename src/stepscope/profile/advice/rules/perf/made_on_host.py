from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_ON_DEVICE_NS = 10_000


@rule("perf.made-on-host", needs="profile", device="gpu")
def made_on_host(run: Measured) -> Iterator[Tip]:
    """A tensor is made on the host only to be moved to the device.

    Why it matters: memory is allocated and filled on the host, copied, and thrown away; made on the device it
    is one small kernel that the host does not wait for.

    What to do: give the factory the device: `torch.zeros(n, device=x.device)`, `torch.randn_like(x)`.

    How it is found: the result of `zeros`, `ones`, `full`, `arange`, `randn`, `tensor` ... was moved to the
    device in the same step.

    Bad:
        mask = torch.ones(n, n).tril().to(device)
    Good:
        mask = torch.ones(n, n, device=device).tril()
    """
    factories = ("zeros", "ones", "full", "empty", "arange", "linspace", "eye", "rand", "randn", "randint", "tril")
    for where, calls in run.by_line(run.calls(fetching=False)).items():
        moves = [one for one in calls if one.get("target") not in (None, "cpu") and one.get("made", 0) >= 0.5]
        if not moves:
            continue
        makes = [one for one in calls if one["op"] in factories]
        took = run.of_look(sum(one["ns"] for one in [*moves, *makes]))
        count = sum(one["calls"] for one in moves)
        yield Tip(
            where=where,
            message="a tensor is created on the host and immediately moved to the device",
            fix="make it there: pass device=... to the function that makes it",
            share=run.share(took),
            saving_ns=int(took - count * _ON_DEVICE_NS),
            how="the time of making and moving it, less a small kernel",
            evidence={"ms": round(took / 1e6, 3), "calls": count},
            part="copy",
        )
