"""The heads of loops: what a loader does to build a batch stands at that line, and says nothing about the data."""

from __future__ import annotations

import ast

from stepscope.common.syntax import tree_of
from stepscope.records.step import Site


def is_loop_head(site: Site | None) -> bool:
    tree = None if site is None else tree_of(site.file)
    heads = () if tree is None else (node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.AsyncFor)))
    return site is not None and any(head.iter.lineno == site.line for head in heads)
