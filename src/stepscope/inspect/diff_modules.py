"""What changed between two module trees, by structural hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepscope.inspect.changes import Change
from stepscope.records.step import ModuleInfo


def module_changes(before: Sequence[ModuleInfo], after: Sequence[ModuleInfo]) -> Iterator[Change]:
    """Only the outermost of added or removed modules; an unchanged block that moved counts as renamed."""
    old = {module.path: module for module in before}
    new = {module.path: module for module in after}
    gone = _outermost([path for path in old if path not in new])
    come = _outermost([path for path in new if path not in old])
    renamed = _renamed(gone, come, old, new)
    for path in gone:
        if path in renamed:
            yield Change("module", "renamed", path, path, renamed[path], {"type": old[path].type})
        else:
            yield Change("module", "removed", path, _words(old[path]), details=_weight(path, before))
    for path in come:
        if path not in renamed.values():
            yield Change("module", "added", path, None, _words(new[path]), _weight(path, after))
    for path, module in old.items():
        if path in new:
            yield from _changed(path, module, new[path])


def _renamed(
    gone: list[str], come: list[str], old: dict[str, ModuleInfo], new: dict[str, ModuleInfo]
) -> dict[str, str]:
    """The new path of each removed module that was added elsewhere with the same structure."""
    by_structure: dict[str, list[str]] = {}
    for path in come:
        by_structure.setdefault(new[path].structure, []).append(path)
    renamed: dict[str, str] = {}
    for path in gone:
        structure = old[path].structure
        if structure and by_structure.get(structure):
            renamed[path] = by_structure[structure].pop(0)
    return renamed


def _changed(path: str, module: ModuleInfo, other: ModuleInfo) -> Iterator[Change]:
    is_same = bool(module.structure) and module.structure == other.structure
    if not is_same and (module.type, module.extra) != (other.type, other.extra):
        yield Change("module", "changed", path or "(model)", _words(module), _words(other))
    yield from _flags(module, other)


def _flags(old: ModuleInfo, new: ModuleInfo) -> Iterator[Change]:
    name = old.path or "(model)"
    if old.trainable != new.trainable and old.parameters == new.parameters:
        yield Change("module", "changed", name, f"{old.trainable:,} trainable", f"{new.trainable:,} trainable")
    if old.training != new.training and old.path == "":
        words = {True: "training mode", False: "evaluation mode"}
        yield Change("module", "changed", name, words[old.training], words[new.training])


def _outermost(paths: list[str]) -> list[str]:
    known = set(paths)
    return [path for path in paths if path.rpartition(".")[0] not in known or "." not in path]


def _words(module: ModuleInfo) -> str:
    return f"{module.type}({module.extra})"


def _weight(path: str, modules: Sequence[ModuleInfo]) -> dict[str, int]:
    inside = [m for m in modules if m.path == path or m.path.startswith(f"{path}.")]
    return {"parameters": sum(m.parameters for m in inside), "modules": len(inside)}
