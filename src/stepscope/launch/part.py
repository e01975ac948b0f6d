"""A part of what surrounds a script, and the few moments at which it is called."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType


@dataclass(frozen=True)
class Ended:
    """How the script ended."""

    error: BaseException | None

    @property
    def crash(self) -> BaseException | None:
        """What it died of; None for one that has ended, exited or was interrupted."""
        is_none = isinstance(self.error, SystemExit | KeyboardInterrupt | GeneratorExit)
        return None if is_none else self.error


class Part:
    """Override the moments that matter. Each is fenced, and none is called in a process forked from this one."""

    ending = "ending a part of the session"
    """What its end does, for the message when that fails."""

    def begin(self) -> None:
        """The script is about to run; nothing of torch may be imported here."""

    def torch_came(self, torch: ModuleType) -> None:
        """The script has imported torch."""

    def end(self, ended: Ended) -> None:
        """The script is over; called once, the last part of the list first."""

    def close(self, error: BaseException | None) -> None:
        """The process is about to end."""
