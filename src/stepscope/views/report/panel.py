"""The interface of a panel kind: its options, its checks, and its form outside the app."""

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

MOST_RUNS = 200
USUAL_RUNS = 10
Choice = Literal["step", "relative", "wall"]


class Options(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Options of every kind of panel."""

    runs: str | list[str] = ""
    """Ids or names of runs; without them and without a query, the report's runs."""
    query: str = ""
    most: int | None = None
    """Maximum number of runs of a query, newest first; default: the report's setting, or 10."""
    title: str = ""
    caption: str = ""
    height: int | None = None
    """In pixels."""


@dataclass(frozen=True)
class Bound:
    """A panel with parsed options and resolved runs."""

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
    """One kind of panel. `pack` collects the data for a file, `write` writes its Markdown."""

    name: str
    about: str
    options: type[Options]
    pack: Callable[[Bound, Packing], None]
    write: Callable[[Bound, Pictures], str]
    check: Callable[[Bound], None] = lambda bound: None
    """Raises a `UsageError` for options that cannot be drawn for these runs."""
    needs_runs: int = 1


@lru_cache
def all_panels() -> dict[str, PanelKind]:
    """Every kind by its name, which is its file name."""
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
    """The options as the kind's own struct; raises if one is invalid."""
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
                f"{kind.name} cannot take `{name}: {_shown(value)}`; expected {_wanted(hints[name])}"
            ) from None
    missing = [name for name, one in fields.items() if one.required and name not in read]
    if missing:
        raise UsageError(f"{kind.name} needs {' and '.join(missing)}; add a line for each")
    return kind.options(**read)


def _as_meant(value: Any, wanted: Any) -> Any:
    """Convert a number or boolean to text where text is expected: `title: 12`."""
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
