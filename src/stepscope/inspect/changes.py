"""One difference between two steps, models or checkpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stepscope.plain_text import clean


@dataclass(frozen=True)
class Change:
    """One difference: something added, removed, renamed or changed."""

    about: str
    """module, tensor, op or cost"""
    kind: str
    """added, removed, renamed, changed"""
    name: str
    before: Any = None
    after: Any = None
    details: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        sign = {"added": "+", "removed": "-", "renamed": ">", "changed": "~"}[self.kind]
        words = f"{sign} {self.about} {clean(self.name)}"
        if self.kind in ("added", "removed"):
            value = self.after if self.kind == "added" else self.before
            words += f"  {clean(str(value))}" if value not in (None, "") else ""
        elif self.before is not None or self.after is not None:
            words += f"  {clean(str(self.before))} -> {clean(str(self.after))}"
        if self.about == "cost":  # both numbers are already there
            return f"{words}  (×{self.details['ratio']:.3g})" if "ratio" in self.details else words
        more = ", ".join(f"{key} {_short(value)}" for key, value in self.details.items())
        return f"{words}  ({more})" if more else words


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else clean(str(value))
