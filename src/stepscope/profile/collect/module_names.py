"""Real names for what torch.profiler numbers: which module `Linear_3` is, and on which line each call was made.

A trace with stacks says `nn.Module: Linear_3` and the line where a function begins. The profiler knows more until it is
gone: its event tree holds the address of each module, and the line of each call. One walk over the first events of
the tree takes both along; steps repeat, so a part of the tree is enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from stepscope.fence import fenced
from stepscope.profile.collect.live_objects import live_models_and_optimizers
from stepscope.profile.trace.python_names import MODULE, frame_of

if TYPE_CHECKING:
    import torch

_MOST_EVENTS = 60_000
_NOTHING_NEW = 20_000
"""So many events without a module or a call that was not known yet: the rest are repeats."""


def module_paths(roots: Iterable[torch.nn.Module]) -> dict[int, tuple[str, str]]:
    """By `id(module)`: the name of its root and its path in it. A module in two places has its first name.

    Roots are named by their class; a second one of the same class is `Net 2`. A root inside another is left out.
    """
    roots = list(dict.fromkeys(roots))
    inside = {id(module) for root in roots for name, module in root.named_modules() if name}
    seen: Counter[str] = Counter()
    paths: dict[int, tuple[str, str]] = {}
    for root in roots:
        if id(root) in inside:
            continue
        kind = type(root).__name__
        seen[kind] += 1
        label = kind if seen[kind] == 1 else f"{kind} {seen[kind]}"
        for path, module in root.named_modules():
            paths.setdefault(id(module), (label, path))
    return paths


@fenced("naming the modules of a profile", default={})
def names_and_lines(profiler: Any, paths: dict[int, tuple[str, str]] | None = None) -> dict[str, Any]:
    """What to put into the facts of a profile taken with stacks, as `modules` and `call_lines`.

    `profiler` is the torch.profiler.profile after it has stopped; `paths` are the names of modules, those of all that
    the process holds if none are given. `modules`: {"Linear_3": ["Net", "blocks.0.fc1"]}.
    `call_lines`: {caller: {callee: [line, line]}}, names as written in the trace, callers of the user's own
    files only. Several lines are those of the first, second ... call inside one call of the caller; if they
    change from one call of the caller to the next, they are left out.
    """
    paths = module_paths(live_models_and_optimizers()[0]) if paths is None else paths
    modules: dict[str, list[str]] = {}
    lines: dict[str, dict[str, list[int]]] = {}
    conflicts: set[tuple[str, str]] = set()
    quiet = 0
    for caller, name, extra, nth in _calls(_tree_of(profiler)):
        quiet += 1
        if name.startswith(MODULE) and name[len(MODULE) :] not in modules:
            module = getattr(extra, "module", None)
            found = None if module is None else paths.get(module.self_ptr)
            if found is not None:
                modules[name[len(MODULE) :]] = list(found)
                quiet = 0
        if caller and frame_of(caller).own and _line(lines, conflicts, (caller, name), nth, extra.caller.line_number):
            quiet = 0
        if quiet > _NOTHING_NEW:
            break
    for caller, callee in conflicts:
        lines[caller].pop(callee, None)
    return {"modules": modules, "call_lines": {caller: _once(found) for caller, found in lines.items() if found}}


def _once(lines: dict[str, list[int]]) -> dict[str, list[int]]:
    """A callee whose calls are all on one line gets that line once."""
    return {callee: at[:1] if len(set(at)) == 1 else at for callee, at in lines.items()}


def _tree_of(profiler: Any) -> list[Any]:
    results = getattr(getattr(profiler, "profiler", profiler), "kineto_results", None)
    return [] if results is None else list(results.experimental_event_tree())


def _calls(roots: list[Any]) -> Iterator[tuple[str, str, Any, int]]:
    """Each Python call: its caller's name (empty where there is none), its own, its fields, and the how-manieth
    call of that name inside its caller it is."""
    from torch._C._profiler import _EventType

    python = (_EventType.PyCall, _EventType.PyCCall)
    stack: list[tuple[Any, str, Counter[str] | None]] = [(root, "", None) for root in reversed(roots)]
    seen = 0
    while stack and seen < _MOST_EVENTS:
        event, caller, counts = stack.pop()
        seen += 1
        children = event.children
        if event.tag in python and (name := _name(event)):
            extra = event.extra_fields
            nth = 0
            if counts is not None:
                nth = counts[name]
                counts[name] += 1
            yield (caller if getattr(extra, "caller", None) is not None else ""), name, extra, nth
            caller, counts = name, Counter()
        if children:
            stack.extend((child, caller, counts) for child in reversed(children))


def _name(event: Any) -> str:
    """Its name; empty where torch has kept bytes that are not text, which happens with names of built-in functions."""
    try:
        return str(event.name)
    except UnicodeDecodeError:
        return ""


def _line(
    lines: dict[str, dict[str, list[int]]], conflicts: set[tuple[str, str]], call: tuple[str, str], nth: int, line: int
) -> bool:
    """Note the line of a call; whether that was new."""
    if call in conflicts or nth > 64:
        return False
    known = lines.setdefault(call[0], {}).setdefault(call[1], [])
    if nth < len(known):
        if known[nth] != line:
            conflicts.add(call)
        return False
    if nth == len(known):
        known.append(line)
        return True
    return False
