"""What every kind of panel is: its options, its checks, and what it becomes outside of the app."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from stepscope.common.folders import modules_in
from stepscope.errors import UsageError
from stepscope.runs.catalogue.entry import RunEntry
from stepscope.views.context import Context

if TYPE_CHECKING:
    from stepscope.views.report.pack import Packing
    from stepscope.views.report.pictures import Pictures

__all__ = ["Bound", "Choice", "Options", "PanelKind", "all_panels", "names_of", "panel_named", "read_options"]

MOST_RUNS = 200
USUAL_RUNS = 10
Choice = Literal["step", "relative", "wall"]


class Options(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What every kind of panel understands."""

    runs: str | list[str] = ""
    """Ids or names of runs; without them, and without a query, those of the report."""
    query: str = ""
    most: int | None = None
    """How many runs of a query, newest first; without it as many as the report says, or 10."""
    title: str = ""
    caption: str = ""
    height: int | None = None
    """In pixels."""


@dataclass(frozen=True)
class Bound:
    """A panel with its options read and its runs found."""

    ctx: Context
    kind: PanelKind
    options: Any
    """An instance of the kind's own `Options`."""
    entries: list[RunEntry] = field(default_factory=list)

    @property
    def runs(self) -> list[str]:
        return [entry.id for entry in self.entries]

    @property
    def title(self) -> str:
        return str(self.options.title)


@dataclass(frozen=True)
class PanelKind:
    """One kind of panel. `pack` says what a file carries for it, `write` what Markdown says in its place."""

    name: str
    about: str
    options: type[Options]
    pack: Callable[[Bound, Packing], None]
    write: Callable[[Bound, Pictures], str]
    check: Callable[[Bound], None] = lambda bound: None
    """Refuses, with a `UsageError`, what cannot be drawn of these runs."""
    needs_runs: int = 1


@lru_cache
def all_panels() -> dict[str, PanelKind]:
    """Every kind by its name, which is the name of its file."""
    named = {module.__name__.rpartition(".")[2]: module for module in modules_in("stepscope.views.panels")}
    return {name: module.PANEL for name, module in named.items() if not name.startswith("_")}


def panel_named(name: str) -> PanelKind:
    kinds = all_panels()
    if name not in kinds:
        near = get_close_matches(name, kinds, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(kinds)}"
        raise UsageError(f"there is no panel {name[:60]!r}; {hint}")
    return kinds[name]


def read_options(kind: PanelKind, given: dict[str, Any]) -> Options:
    """The options as the kind's own struct, or what is wrong with one of them."""
    hints = get_type_hints(kind.options)
    fields = {one.encode_name: one for one in msgspec.structs.fields(kind.options)}
    read: dict[str, Any] = {}
    for name, value in given.items():
        if name not in fields:
            near = get_close_matches(name, fields, 1)
            hint = f"did you mean {near[0]}?" if near else f"it takes {', '.join(fields)}"
            raise UsageError(f"{kind.name} has no option {name}; {hint}")
        if value is None or value == "":
            continue
        try:
            read[name] = msgspec.convert(_as_meant(value, hints[name]), hints[name], strict=False)
        except msgspec.ValidationError:
            raise UsageError(
                f"{kind.name} cannot take `{name}: {_shown(value)}`; it is {_wanted(hints[name])}"
            ) from None
    missing = [name for name, one in fields.items() if one.required and name not in read]
    if missing:
        raise UsageError(f"{kind.name} needs {' and '.join(missing)}")
    return kind.options(**read)


def _as_meant(value: Any, wanted: Any) -> Any:
    """A number or a yes where text is wanted was meant as text: `title: 12`."""
    takes = get_args(wanted) or (wanted,)
    if isinstance(value, (bool, int, float)) and str in takes and type(value) not in takes:
        return json.dumps(value)
    return value


def _wanted(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {', '.join(map(str, get_args(hint)))}"
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    parts = [words.get(part, "a list") for part in (get_args(hint) or (hint,)) if part is not type(None)]
    return " or ".join(dict.fromkeys(parts))


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:59] + "…"


def names_of(value: str | list[str]) -> list[str]:
    """A list of names, given as a list or separated by commas.

    >>> names_of("loss, val/acc"), names_of(["a, b"])
    (['loss', 'val/acc'], ['a, b'])
    """
    parts = value.split(",") if isinstance(value, str) else value
    return [part.strip() for part in parts if part.strip()]
