"""A tool is one function per file: its docstring is the agent's documentation, its annotations are the schema.

    @tool("Explain a rule")
    def explain_rule(desk: Desk, rule: ...) -> Answer: ...

Modules in `tools/` with such a function are discovered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import Field

from stepscope.agents.words import cut, tidy
from stepscope.common.folders import modules_in

MAX_ANSWER = 24_000
"""Maximum characters of one answer, about 6,000 tokens: longer content is requested in pieces."""

_MARK = "__stepscope_tool__"
F = TypeVar("F", bound=Callable[..., "Answer"])

RunRef = Annotated[
    str,
    Field(
        description="Which run: its name, its id or the first letters of it, `project/name`, `last` (the newest), "
        "`@2` (the one before it)."
    ),
]
Limit = Annotated[int, Field(ge=1, le=200, description="How many at most.")]
Offset = Annotated[int, Field(ge=0, description="How many to skip, for the next page.")]


@dataclass
class Answer:
    """A tool's answer: text to read, and the same as data for a program."""

    text: str
    data: dict[str, Any] = field(default_factory=dict)

    def finished(self) -> tuple[str, dict[str, Any]]:
        found: dict[str, Any] = tidy(self.data)
        return cut(self.text.rstrip(), MAX_ANSWER), found


@dataclass(frozen=True)
class ToolSpec:
    """A registered tool."""

    name: str
    title: str
    call: Callable[..., Answer]
    edits: bool = False
    """Changes something; offered only with --allow-edit."""


def tool(title: str, edits: bool = False) -> Callable[[F], F]:
    """Make a function a tool under its own name."""

    def mark(function: F) -> F:
        setattr(function, _MARK, ToolSpec(function.__name__, title, function, edits))
        return function

    return mark


def all_tools(package: str = "stepscope.agents.tools") -> list[ToolSpec]:
    """Every tool in the folder, by name."""
    found: dict[str, ToolSpec] = {}
    for loaded in modules_in(package):
        for value in vars(loaded).values():
            spec = getattr(value, _MARK, None)
            if isinstance(spec, ToolSpec) and value.__module__ == loaded.__name__:
                found[spec.name] = spec
    return [found[name] for name in sorted(found)]
