from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


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
    if crash is None or not crash.is_a("AttributeError"):
        return
    if not crash.says(r"before \w+\.__init__\(\) call", r"no attribute '_(modules|parameters|buffers|\w*hooks\w*)'"):
        return
    if crash.unmade is None:
        return
    kind, site = crash.unmade
    yield Proof(
        where=site,
        message=f"{kind}.__init__ uses the module before super().__init__() has created it",
        label="super().__init__() is missing here",
        evidence={"class": kind},
        edit=layers.super_first(site),
        fix="call super().__init__() first",
        related=[(crash.site, "it fails here")] if crash.site is not None and crash.site.line != site.line else [],
    )
