"""What a loader gives in each batch, as its dataset's `__getitem__` or its tensors tell."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from stepscope.common.syntax import said
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.classes import Function, function_in, values_returned
from stepscope.diagnose.crash.provenance import tensors_of
from stepscope.evidence.frame_values import Held
from stepscope.records.step import Site


@dataclass(frozen=True)
class Parts:
    """How many parts a sample has; the keys of one that is a dict."""

    count: int
    keys: tuple[str, ...] = ()
    site: Site | None = None
    """The `return` that gives them."""


def inner_dataset(dataset: Any) -> Any:
    """The dataset inside subsets."""
    while isinstance(dataset, Held) and dataset.is_a("Subset"):
        dataset = dataset.attributes.get("dataset")
    return dataset


def getitem_of(dataset: Any) -> tuple[str, Function] | None:
    """The user's `__getitem__` of a dataset, with its file."""
    dataset = inner_dataset(dataset)
    code = dataset.kind.methods.get("__getitem__") if isinstance(dataset, Held) else None
    function = None if code is None or not code.own else function_in(code.file, code.name, code.first_line)
    return None if code is None or function is None else (code.file, function)


def parts_of(dataset: Any) -> Parts | None:
    """What each sample consists of; None where the source does not tell, or returns differ."""
    dataset = inner_dataset(dataset)
    tensors = tensors_of(dataset)
    if tensors:
        return Parts(len(tensors))
    found = getitem_of(dataset)
    return None if found is None else parts_returned(*found)


def parts_returned(file: str, function: Function) -> Parts | None:
    """What a `__getitem__` returns."""
    given = [one for one in values_returned(file, function) if one is not None]
    if not given or len({type(one) for one in given}) > 1:
        return None
    site = node_site(file, given[0])
    if isinstance(given[0], ast.Tuple):
        counts = {len(one.elts) for one in given if isinstance(one, ast.Tuple)}
        return Parts(counts.pop(), site=site) if len(counts) == 1 else None
    if isinstance(given[0], ast.Dict):
        keys = tuple(str(key.value) for key in given[0].keys if isinstance(key, ast.Constant))
        return Parts(len(given[0].keys), keys or (said(given[0]),), site)
    return None
