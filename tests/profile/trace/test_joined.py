"""Tables of several collectors as one."""

from __future__ import annotations

from stepscope.profile.trace.build import Builder
from stepscope.profile.trace.events import Header, joined


def test_what_torch_says_of_the_device_is_kept_whichever_table_comes_first() -> None:
    torchs = Builder(Header(fields={"deviceProperties": [{"name": "GPU"}]}, base_ns=7))
    torchs.add("aten::mm", "cpu_op", start=5, dur=2, pid=1, tid=1)
    ours = Builder()
    ours.add("fetch", "data", start=1, dur=3, pid=2, tid=2, args={"batch": 4})
    both = joined([ours.events(), torchs.events()])
    assert both.header.fields == {"deviceProperties": [{"name": "GPU"}]}
    assert [both.names[at] for at in both.name] == ["fetch", "aten::mm"]
    assert both.arguments(0) == {"batch": 4.0}
    assert both.arguments(1) == {}
