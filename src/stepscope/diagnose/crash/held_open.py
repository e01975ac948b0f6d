"""The attribute that holds an open file, a connection or a lock, so that its object cannot be pickled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.common.syntax import said, statement_at, tree_of
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.source import called_name
from stepscope.evidence.frame_values import Held, HeldItems, HeldLoader
from stepscope.records.step import Site

_MAKERS = {
    **dict.fromkeys(("TextIOWrapper", "BufferedReader", "BufferedWriter", "BufferedRandom", "FileIO"), ("open",)),
    **dict.fromkeys(("Connection", "connection"), ("connect",)),
    "Cursor": ("cursor", "execute"),
    "lock": ("Lock", "allocate_lock", "Condition", "Semaphore", "Event", "Queue"),
    "RLock": ("RLock", "Condition"),
    "Environment": ("open",),
    "socket": ("socket", "create_connection"),
}
"""The calls that give an object which holds one of these."""
_DEEPEST = 3


@dataclass(frozen=True)
class HeldOpen:
    """`self.file = open(path)`."""

    name: str
    text: str
    site: Site


def held_open(crash: Crash, kind: str) -> HeldOpen | None:
    """The assignment of the attribute with an object of this class: by what is held now, else by what makes such."""
    bare = kind.rpartition(".")[2]
    for name in _attributes(crash, bare):
        found = [one for one in _assigned(crash) if one[1] == name]
        if found:
            file, _, node = found[0]
            return HeldOpen(f"self.{name}", said(node.value), node_site(file, node))
    made = [one for one in _assigned(crash) if called_name(one[2].value) in _MAKERS.get(bare, ())]
    if len(made) != 1:
        return None
    file, name, node = made[0]
    return HeldOpen(f"self.{name}", said(node.value), node_site(file, node))


def function_held(crash: Crash, name: str) -> Site | None:
    """Where a function of this qualified name is written that an object of the script's holds: a lambda among many."""
    bare = name.rpartition(".")[2]
    for _, held in _held(crash):
        code = held.code if isinstance(held, Held) else None
        if code is not None and code.own and code.name == bare:
            statement = statement_at(code.file, code.first_line)
            inside = ast.walk(statement) if statement is not None and bare == "<lambda>" else iter(())
            node = next((one for one in inside if isinstance(one, ast.Lambda)), statement)
            return None if node is None else node_site(code.file, node)
    return None


def _attributes(crash: Crash, kind: str) -> Iterator[str]:
    """The names of attributes that hold one, nearest first."""
    for name, held in _held(crash):
        if isinstance(held, Held) and held.type == kind:
            yield name


def _held(crash: Crash) -> Iterator[tuple[str, Any]]:
    """All attributes of the objects in sight and of what they hold, nearest first."""
    seen: set[int] = set()
    waiting: list[tuple[Any, int]] = [(dataset, 0) for dataset in crash.datasets]
    waiting += [(value, 0) for _, value, _ in crash.values() if isinstance(value, Held)]
    for value, depth in waiting:
        if not isinstance(value, Held) or id(value) in seen or depth > _DEEPEST:
            continue
        seen.add(id(value))
        yield from value.attributes.items()
        inner = [*value.attributes.values(), *(value.items if isinstance(value, HeldItems) else ())]
        inner += [value.dataset] if isinstance(value, HeldLoader) else []
        waiting += [(one, depth + 1) for one in inner]


def _assigned(crash: Crash) -> list[tuple[str, str, ast.Assign]]:
    """The attributes that the user's files give to `self`: file, name, statement."""
    found = []
    for file in dict.fromkeys([*(frame.file for frame in crash.own), *sorted(crash.own_files)]):
        for node in ast.walk(tree_of(file) or ast.Module([], [])):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Attribute) and said(target.value) == "self" and isinstance(node, ast.Assign):
                found.append((file, target.attr, node))
    return found
