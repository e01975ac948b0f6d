"""`python -m stepscope.launch.trial.batch_sizes ORDER`: a script trains with growing batches, in a process of its own.

ORDER is JSON: the script, what earlier processes have measured, the limits, and the file for the answer. That file gets
a line of JSON for everything that happens, as it happens: a process killed for its memory has said what it tried.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.events import Installed, subscribe
from stepscope.events.imports import Imports
from stepscope.launch.dry_run_saves import NothingSaved
from stepscope.launch.limits import is_stop
from stepscope.launch.script import find_module, find_script, run_as_main
from stepscope.launch.trial.schedules import halt_schedules
from stepscope.profile.batch.memory import is_out_of_memory
from stepscope.profile.batch.tuner import BatchTuner
from stepscope.profile.data.loaders import Loaders

if TYPE_CHECKING:
    from torch.optim import Optimizer


class _Child:
    def __init__(self, order: dict[str, Any]) -> None:
        self._answer = Path(order["answer"])
        self.batches = self.backwards = 0
        self._optimizer: Any = None
        self.tuner = BatchTuner(order, lambda: self.backwards, self._finish, self._tell)
        self._made = Loaders()
        self._installed = Installed()

    def install(self, imports: Imports) -> None:
        imports.when("torch", lambda torch: self._torch_came(imports))

    def _torch_came(self, imports: Imports) -> None:
        self._made.install(self._installed)
        self.tuner.diversion.install(sys.modules["torch.utils.data.dataloader"])
        halt_schedules(imports, self._installed, lambda: self.tuner.loader is not None)
        heard = subscribe("tuning the batch size", backward_ends=self._went_back, step_ends=self._stepped,
                          batch_given=self._given)  # fmt: skip
        self._installed.add(heard.remove)

    def _given(self, *told: Any) -> None:
        self.batches += 1

    def _went_back(self, error: BaseException | None) -> None:
        self.backwards += 1

    def _stepped(self, optimizer: Optimizer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._optimizer = optimizer

    def _tell(self, event: dict[str, Any]) -> None:
        if event["event"] == "loader":
            place = self._made.place(self.tuner.loader)
            event = {**event, "place": place, **_rates(self._optimizer)}
        with open(self._answer, "a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    def _finish(self) -> None:
        stop = SystemExit(0)
        stop._stepscope_reason = "all batch sizes were tried"  # type: ignore[attr-defined]
        raise stop

    def ended(self, error: BaseException | None) -> None:
        """The last line: how the script ended."""
        stopped = error is None or is_stop(error) or (isinstance(error, SystemExit) and error.code in (None, 0))
        self._tell(
            {
                "event": "ended",
                "size": self.tuner.size,
                "error": "" if stopped else f"{type(error).__name__}: {error}".split("\n")[0][:300],
                "memory": not stopped and is_out_of_memory(error),
                "batches": self.batches,
                "backwards": self.backwards,
            }
        )
        self.tuner.diversion.remove()
        self._installed.remove()


def _rates(optimizer: Optimizer) -> dict[str, Any]:
    """The optimizer and its learning rates, one for each group of parameters."""
    if optimizer is None:
        return {"optimizer": "", "rates": []}
    rates = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
    return {"optimizer": type(optimizer).__name__, "rates": rates[:16]}


def main(text: str) -> int:
    order: dict[str, Any] = json.loads(text)
    imports = Imports()
    imports.install()
    saved = NothingSaved(imports, lambda said: None)
    child = _Child(order)
    child.install(imports)
    make = find_module if order["is_module"] else find_script
    found: BaseException | None = None
    try:
        run_as_main(make(order["script"], order["args"]))
    except BaseException as fault:
        found = fault
    child.ended(found)
    imports.remove()
    saved.remove()
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1])
    sys.stdout.flush()
    os._exit(code)  # the answer is written; workers and threads of the script need not end by themselves
