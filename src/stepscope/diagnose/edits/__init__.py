"""Fixes as changes of text: plans that rules attach to their proofs, and the edits that are made from them.

A plan is a function of the source that gives pieces of text to replace, or None where it cannot be sure. Nothing is
written here: `written` turns a plan into an `Edit`, a record that travels with the finding.
"""

from stepscope.diagnose.edits.plans import (
    after,
    append,
    argument,
    before,
    both,
    call_replaced,
    first_of,
    in_method,
    keyword,
    move_after,
    move_before,
    not_keyword,
    remove,
    renamed,
    replace,
    swap,
    unwrap,
)
from stepscope.diagnose.edits.spans import Plan, Span, written
from stepscope.diagnose.edits.syntax import enclosing_statement, find, name_of_result, text_of

__all__ = [
    "Plan",
    "Span",
    "after",
    "append",
    "argument",
    "before",
    "both",
    "call_replaced",
    "enclosing_statement",
    "find",
    "first_of",
    "in_method",
    "keyword",
    "move_after",
    "move_before",
    "name_of_result",
    "not_keyword",
    "remove",
    "renamed",
    "replace",
    "swap",
    "text_of",
    "unwrap",
    "written",
]
