"""Plans for how a model is built: sizes of its layers, what it registers, how its weights start."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from stepscope.diagnose.edits.literals import set_argument, written_at
from stepscope.diagnose.edits.loop import imports
from stepscope.diagnose.edits.plans import Spans, argument, at, before_statement, move_before, span
from stepscope.diagnose.edits.spans import Span
from stepscope.diagnose.edits.syntax import Where, enclosing_statement, find, text_of

if TYPE_CHECKING:
    from stepscope.diagnose.edits.spans import Plan
    from stepscope.diagnose.source import Source, SourceFile

_SIZES = {
    r"Linear$": ("in_features", "out_features"),
    r"Conv(Transpose)?\dd$": ("in_channels", "out_channels"),
    r"(Batch|Instance)Norm\dd$": ("num_features",),
    r"(LSTM|GRU|RNN)$": ("input_size", "hidden_size"),
    r"Embedding(Bag)?$": ("num_embeddings", "embedding_dim"),
}
"""The first arguments of torch's layers, by the end of their names."""
_BATCH_FIRST = re.compile(r"(LSTM|GRU|RNN|MultiheadAttention|Transformer(EncoderLayer|DecoderLayer)?)$")


def size_position(call: ast.Call, name: str) -> int | None:
    """Which argument of one of torch's own layers has this name; None for any other call."""
    called = ast.unparse(call.func)
    names = next((sizes for end, sizes in _SIZES.items() if re.search(end, called)), ())
    return names.index(name) if name in names else None


def sized(where: Where, name: str, value: int | str, *, at_source: bool = False) -> Plan:
    """`in_features` of a layer, where one of torch's own layers is built at the place.

    `at_source`: changed where the number is written, be it a constant at the top of the file.
    """

    def plan(source: Source) -> Spans:
        found = find(source, where)
        position = size_position(found[1], name) if found is not None and isinstance(found[1], ast.Call) else None
        if found is None or position is None:
            return None
        change = set_argument if at_source else argument
        return change(found, position, name, str(value))(source)

    return plan


def batch_first(where: Where) -> Plan:
    """A recurrent or attention layer that reads [batch, time, features]."""

    def plan(source: Source) -> Spans:
        found = find(source, where)
        if found is None or not isinstance(found[1], ast.Call) or not _BATCH_FIRST.search(ast.unparse(found[1].func)):
            return None
        return argument(found, None, "batch_first", "True")(source)

    return plan


def one_more_row(where: Where) -> Plan:
    """An embedding with one row more; a size that is counted (`len(words)`) is changed where that is done."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        if not ast.unparse(node.func).endswith("Embedding") or not node.args:
            return None
        given = node.args[0]
        if isinstance(given, ast.Constant) and isinstance(given.value, int):
            return [span(file, given, str(given.value + 1))]
        end = written_at(file, given)
        counted = end if isinstance(end, ast.Call) else given
        return [span(file, counted, f"{text_of(file, counted)} + 1")]

    return at(where, make, ast.Call)


def registered(where: Where, name: str) -> Plan:
    """`self.mask = x` becomes `self.register_buffer("mask", x)`."""

    def make(file: SourceFile, node: Any) -> Spans:
        statement = enclosing_statement(file, node)
        if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) != f"self.{name}":
            return None
        return [span(file, statement, f'self.register_buffer("{name}", {text_of(file, statement.value)})')]

    return at(where, make)


def wrapped_value(where: Where, name: str, wrapper: str) -> Plan:
    """`self.layers = [...]` becomes `self.layers = nn.ModuleList([...])`."""

    def make(file: SourceFile, node: Any) -> Spans:
        statement = enclosing_statement(file, node)
        if not isinstance(statement, ast.Assign) or ast.unparse(statement.targets[0]) != f"self.{name}":
            return None
        root = wrapper if imports(file, "nn") else f"torch.{wrapper}" if imports(file, "torch") else None
        return None if root is None else [span(file, statement.value, f"{root}({text_of(file, statement.value)})")]

    return at(where, make)


def each_made(where: Where) -> Plan:
    """`[Block()] * n` becomes `[Block() for _ in range(n)]`."""

    def make(file: SourceFile, node: Any) -> Spans:
        for one in ast.walk(node):
            if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult):
                for items, times in ((one.left, one.right), (one.right, one.left)):
                    if isinstance(items, ast.List) and len(items.elts) == 1:
                        made = text_of(file, items.elts[0])
                        return [span(file, one, f"[{made} for _ in range({text_of(file, times)})]")]
        return None

    return at(where, make)


def super_first(where: Where) -> Plan:
    """`super().__init__()` as the first statement of `__init__`; one that comes later is moved there."""

    def plan(source: Source) -> Spans:
        found = find(source, where)
        if found is None:
            return None
        file, node = found
        function = node if isinstance(node, ast.FunctionDef) else file.enclosing(node, ast.FunctionDef)
        if function is None or function.name != "__init__":
            return None
        first = function.body[1 if ast.get_docstring(function) and len(function.body) > 1 else 0]
        for one in function.body:
            if isinstance(one, ast.Expr) and ast.unparse(one).startswith("super().__init__("):
                return move_before((file, one), (file, first))(source)
        return before_statement(file, first, "super().__init__()")

    return plan


_STARTS = ("zeros_", "ones_", "constant_", "normal_", "uniform_")


def initialised(where: Where, function: str, words: str = "") -> Plan:
    """`nn.init.zeros_(weight)` becomes another of torch's initializations of the same weight."""

    def make(file: SourceFile, node: ast.Call) -> Spans:
        called = node.func
        if not isinstance(called, ast.Attribute) or called.attr not in _STARTS or not node.args:
            return None
        if not ast.unparse(called.value).endswith("init"):
            return None
        start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
        weight = text_of(file, node.args[0])
        return [Span(file, start, end, f"{text_of(file, called.value)}.{function}({weight}{words})")]

    return at(where, make, ast.Call)
