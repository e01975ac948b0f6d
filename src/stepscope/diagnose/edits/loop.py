"""Plans for the training loop: gradients cleared, steps taken, the right parameters held."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.plans import Spans, after_statement, argument, before_statement
from stepscope.diagnose.edits.syntax import Where, enclosing_statement, find, name_of_result, text_of

if TYPE_CHECKING:
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.source import Source, SourceFile

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def means_the_same(file: SourceFile, name: str, seen: ast.AST, there: ast.AST) -> bool:
    """Whether a name that is written at one node has the same meaning at another."""
    here, other = file.enclosing(seen, *_FUNCTIONS), file.enclosing(there, *_FUNCTIONS)
    if here is other:
        return True
    if name.startswith("self."):
        holder = file.enclosing(seen, ast.ClassDef)
        return holder is not None and holder is file.enclosing(there, ast.ClassDef)
    root = name.partition(".")[0]
    if here is None and other is not None:
        return not _binds(other, root)
    return here is not None and here in file.up(there) and not _binds(other, root)


def _binds(function: Any, name: str) -> bool:
    given = [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    stored = [one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    return name in (*given, *stored)


def holder_at(source: Source, there: Where, *, used: Where = None, made: Where = None) -> str | None:
    """What an object is called at a place, from where a method of it is called and from where it was made."""
    target = find(source, there)
    if target is None:
        return None
    file, node = target
    built = find(source, made) if made is not None else None
    name = name_of_result(*built) if built is not None and built[0] is file else None
    if name is not None and built is not None and means_the_same(file, name, built[1], node):
        return name
    call = find(source, used) if used is not None else None
    if call is None or call[0] is not file or not isinstance(call[1], ast.Call):
        return None
    function = call[1].func
    if not isinstance(function, ast.Attribute):
        return None
    known = [ast.unparse(one) for one in call[1].args[:1] if isinstance(one, ast.Name | ast.Attribute)]
    # `scaler.step(optimizer)` names it as the argument; the name it was made under tells which of the two it is.
    tail = (name or "").rpartition(".")[2]
    written = next((one for one in known if one.rpartition(".")[2] == tail), ast.unparse(function.value))
    return written if means_the_same(file, written, call[1], node) else None


def call_on(
    method: str, there: Where, *, used: Where = None, made: Where = None, after: bool = False, words: str = ""
) -> Plan:
    """`optimizer.zero_grad()` before (or after) a statement, by the name that the optimizer has there."""

    def plan(source: Source) -> Spans:
        name = holder_at(source, there, used=used, made=made)
        target = find(source, there)
        if name is None or target is None:
            return None
        file, node = target
        put = after_statement if after else before_statement
        return put(file, enclosing_statement(file, node), f"{name}.{method}({words})")

    return plan


def parameters_of(optimizer: Where, model: Where, *, instead: bool) -> Plan:
    """An optimizer that gets the parameters of a model, instead of what it is given or beside it."""

    def plan(source: Source) -> Spans:
        call, made = find(source, optimizer), find(source, model)
        if call is None or made is None or call[0] is not made[0] or not isinstance(call[1], ast.Call):
            return None
        file, node = call
        name = name_of_result(*made)
        if name is None or not means_the_same(file, name, made[1], node) or not node.args:
            return None
        given = node.args[0]
        wanted = f"{name}.parameters()" if instead else _joined(file, given, name)
        return None if wanted is None else argument((file, node), 0, "params", wanted)(source)

    return plan


def _joined(file: SourceFile, given: ast.expr, name: str) -> str | None:
    """Both sets of parameters, in the form that the first is written in."""
    text = text_of(file, given)
    if text.startswith(f"{name}.") and text.endswith(".parameters()"):
        return f"{name}.parameters()"
    if isinstance(given, ast.List) and given.elts:
        as_groups = any(isinstance(one, ast.Dict) for one in given.elts)
        added = f'{{"params": {name}.parameters()}}' if as_groups else f"*{name}.parameters()"
        return f"{text[:-1].rstrip().rstrip(',')}, {added}]"
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Add):
        return f"{text} + list({name}.parameters())"
    if isinstance(given, ast.Call) and text.endswith("parameters()"):
        return f"[*{text}, *{name}.parameters()]"
    return None


def with_no_grad(where: Where, first: Where | None = None) -> Plan:
    """The statement at a place (from `first` on, in the same block) under `torch.no_grad()`."""

    def plan(source: Source) -> Spans:
        from stepscope.diagnose.edits.plans import first_line, own_text, span
        from stepscope.diagnose.edits.spans import Span

        found = find(source, where)
        if found is None:
            return None
        file, node = found
        statement = enclosing_statement(file, node)
        if statement is None or not imports(file, "torch"):
            return None
        text = own_text(file, statement)
        lead = " " * statement.col_offset
        body = "\n".join(f"{lead}    {line}".rstrip() for line in text.split("\n"))
        if file.text.split("\n")[first_line(statement) - 1][: statement.col_offset].strip():
            return [span(file, statement, f"with torch.no_grad(): {text}")] if "\n" not in text else None
        new = f"{lead}with torch.no_grad():\n{body}\n"
        return [Span(file, (first_line(statement), 0), ((statement.end_lineno or 0) + 1, 0), new)]

    return plan


def imports(file: SourceFile, name: str) -> bool:
    """Whether `name` can be used in a file: it is imported at its top."""
    for one in file.tree.body:
        if isinstance(one, ast.Import) and any((each.asname or each.name.split(".")[0]) == name for each in one.names):
            return True
        if isinstance(one, ast.ImportFrom) and any((each.asname or each.name) == name for each in one.names):
            return True
    return False
