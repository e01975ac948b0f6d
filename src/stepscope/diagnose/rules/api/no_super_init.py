from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.record.watch.places import is_own
from stepscope.records.step import Site


@rule("api.no-super-init", severity="error", needs="crash")
def no_super_init(run: Evidence) -> Iterator[Proof]:
    """A module's `__init__` does not call `super().__init__()`, or calls it too late.

    Why it matters: `nn.Module` keeps its layers and parameters in tables that its own constructor makes.

    What to do: make `super().__init__()` the first line of `__init__`.

    Bad:
        def __init__(self):
            self.fc = nn.Linear(4, 2)
    Good:
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 2)
    """
    crash = run.crash
    if crash is None or not isinstance(crash.error, AttributeError):
        return
    if not crash.says(r"before \w+\.__init__\(\) call", r"no attribute '_(modules|parameters|buffers|\w*hooks\w*)'"):
        return
    found = _unmade(crash)
    if found is None:
        return
    kind, site = found
    yield Proof(
        where=site,
        message=f"{kind.__name__}.__init__ uses the module before super().__init__() has made it",
        label="super().__init__() is missing here",
        evidence={"class": kind.__name__},
        fix="call super().__init__() first",
        related=[(crash.site, "it fails here")] if crash.site is not None and crash.site.line != site.line else [],
    )


def _unmade(crash: Crash) -> tuple[Any, Site] | None:
    """The class whose object lacks the tables, and the line of its constructor."""
    seen = [value for frame in reversed(crash.frames) for value in list(frame.locals.values())[:200]]
    for value in (getattr(crash.error, "obj", None), *seen):
        kind: Any = type(value)
        if isinstance(value, nn.Module) and "_modules" not in value.__dict__:
            for base in kind.__mro__:
                code = getattr(base.__dict__.get("__init__"), "__code__", None)
                if code is not None and is_own(code):
                    return base, Site(file=code.co_filename, line=code.co_firstlineno, function="__init__")
    return None
