"""Where time and memory go: collectors -> one event table -> analyses -> advice. Reads without torch.

Called as a function, `with stepscope.profile("run.profile"): ...` profiles what runs inside;
`stepscope.profile.schedule(...)` says which steps of many.
"""

from typing import Any

from stepscope._callable import make_callable

make_callable(__name__, "stepscope.profile.collect.api:profile")


def __getattr__(name: str) -> Any:
    if name == "schedule":
        from stepscope.profile.collect.schedule import schedule

        return schedule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
