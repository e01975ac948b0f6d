"""What a line of source does with the result of a call: drops it, gives it the old name, or keeps both."""

from __future__ import annotations

import ast
import linecache

from stepscope.records.step import Site

_trees: dict[str, dict[ast.AST, ast.AST]] = {}


def fate_of_call(site: Site) -> str:
    """dropped: `x.to(device)` as a statement. renamed: `x = x.to(device)`, or of something that had no name
    (`load(i).to(device)`). shared: the old name goes on beside the new one."""
    parents = _parents(site.file)
    call = _call_at(parents, site)
    if call is None or not isinstance(call.func, ast.Attribute):
        return "shared"
    if isinstance(parents.get(call), ast.Expr):
        return "dropped"
    receiver = call.func.value
    if not isinstance(receiver, (ast.Name, ast.Attribute)):
        return "renamed" if not isinstance(receiver, ast.Subscript) or _is_computed(receiver) else "shared"
    name = ast.unparse(receiver)
    node: ast.AST = call
    while node in parents and not isinstance(node, ast.stmt):
        node = parents[node]
        if isinstance(node, (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)):
            name = _walked(node, name) or name
    targets = node.targets if isinstance(node, ast.Assign) else []
    names = {ast.unparse(part) for target in targets for part in _parts(target)}
    return "renamed" if name in names else "shared"


def _is_computed(node: ast.Subscript) -> bool:
    """`data[index]` with an index makes a new tensor; `batch["x"]` is the one in the dictionary."""
    return not isinstance(node.slice, ast.Constant)


def _parts(target: ast.expr) -> list[ast.expr]:
    return (
        [part for one in target.elts for part in _parts(one)] if isinstance(target, (ast.Tuple, ast.List)) else [target]
    )


def _walked(node: ast.AST, name: str) -> str | None:
    """`batch` of `[v.to(device) for v in batch]` or `{k: v.to(device) for k, v in batch.items()}`."""
    for loop in getattr(node, "generators", ()):
        if name in {ast.unparse(part) for part in _parts(loop.target)}:
            source = loop.iter
            if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
                source = source.func.value
            return ast.unparse(source)
    return None


def _call_at(parents: dict[ast.AST, ast.AST], site: Site) -> ast.Call | None:
    found = None
    for node in parents:
        if not isinstance(node, ast.Call) or node.lineno != site.line:
            continue
        if site.column is None or (node.col_offset == site.column and node.end_col_offset == site.end_column):
            found = node
    return found


def _parents(file: str) -> dict[ast.AST, ast.AST]:
    known = _trees.get(file)
    if known is None:
        try:
            tree = ast.parse("".join(linecache.getlines(file)))
        except (SyntaxError, ValueError, RecursionError):
            tree = ast.Module(body=[], type_ignores=[])
        known = _trees[file] = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return known
