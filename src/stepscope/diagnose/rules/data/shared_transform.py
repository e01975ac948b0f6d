from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.array_provenance import binding_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name, dotted

_SETTINGS = re.compile(r"transform|augment|train|mode|split", re.I)
_SPLITS = ("random_split", "Subset")


@rule("data.shared-transform", severity="warning", needs="end")
def shared_transform(run: Evidence) -> Iterator[Proof]:
    """Setting the transform of one part of a split sets it for the other parts too: they share one dataset.

    Why it matters: `random_split` and `Subset` only keep lists of indices. `val_set.dataset` is the very object behind
    `train_set`, so switching augmentation off for validation switches it off for training, or vice versa.

    What to do: make two datasets, one with each transform, and take the same split of both.

    How it is found: the script switches a transform (or a mode) off through `.dataset` of one part of a split, or sets
    another one for each part; the parts still have the same dataset, and the model was trained on such a part.

    Bad:
        train_set, val_set = random_split(data, [900, 100])
        val_set.dataset.transform = None
    Good:
        train_set = Subset(Images(transform=augment), train_rows)
        val_set = Subset(Images(transform=None), val_rows)
    """
    if not any(loader.dataset == "Subset" and run.batches.trains_on(loader) for loader in run.loaders.all):
        return
    for file in run.source.files():
        settings = [(node, part) for node in file.walk(ast.Assign) for part in _parts_set(node)]
        for node, (part, setting) in settings:
            others = _sharing(file, part, node)
            if others and _differs(node, part, others, settings) and not _has_own(file, {part, *others}):
                yield Proof(
                    where=file.site(node),
                    message=f"{setting} is set for {part}, but {others[0]} has the same dataset: it is set for both",
                    label="both parts of the split share one dataset object",
                    evidence={"part": part, "shared_with": others[:4], "setting": setting},
                    fix="create one dataset per transform and use the same indices for both",
                )
                return


def _differs(
    node: ast.Assign, part: str, others: list[str], settings: list[tuple[ast.Assign, tuple[str, str]]]
) -> bool:
    """Whether this switches it off, or comes after another value for another part."""
    if isinstance(node.value, ast.Constant) and not node.value.value:
        return True
    mine = ast.unparse(node.value)
    return any(
        other in others and before.lineno < node.lineno and ast.unparse(before.value) != mine
        for before, (other, _) in settings
    )


def _parts_set(node: ast.Assign) -> Iterator[tuple[str, str]]:
    """(`val_set`, `transform`) of `val_set.dataset.transform = ...`."""
    for target in node.targets:
        words = dotted(target).split(".") if isinstance(target, ast.Attribute) else []
        if len(words) >= 3 and words[-2] == "dataset" and _SETTINGS.search(words[-1]):
            yield ".".join(words[:-2]), words[-1]


def _sharing(file: SourceFile, part: str, at: ast.AST) -> list[str]:
    """The other parts of the split that this one comes from."""
    binding = binding_of(file, part, at)
    if binding is None or binding.value is None or called_name(binding.value) not in _SPLITS:
        return []
    if called_name(binding.value) == "random_split":
        targets = getattr(binding.statement, "targets", [])
        names = [dotted(one) for target in targets for one in getattr(target, "elts", ())]
        return [name for name in names if name and name not in (part, "_")]
    mine = _data_of(binding.value)
    found = []
    for node in file.walk(ast.Assign):
        for target, value in _assigned(node):
            if called_name(value) == "Subset" and _data_of(value) == mine and dotted(target) not in ("", part):
                found.append(dotted(target))
    return found if mine else []


def _assigned(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target with its value: `a, b = c, d` has two."""
    for target in node.targets:
        values = getattr(node.value, "elts", ())
        if isinstance(target, ast.Tuple) and len(values) == len(target.elts):
            yield from zip(target.elts, values, strict=True)
        else:
            yield target, node.value


def _data_of(call: ast.expr) -> str:
    return dotted(call.args[0]) if isinstance(call, ast.Call) and call.args else ""


def _has_own(file: SourceFile, parts: set[str]) -> bool:
    """Whether one of the parts was given a dataset of its own: `val_set.dataset = copy(val_set.dataset)`."""
    return any(
        dotted(target) in {f"{part}.dataset" for part in parts}
        for node in file.walk(ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute)
    )
