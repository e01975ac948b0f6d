"""Edits are the change a person would type: the right statement, its indentation, nothing else."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from stepscope.diagnose import edits
from stepscope.diagnose.edits import layers, modes, tensors
from stepscope.diagnose.edits.apply import changed_text
from stepscope.diagnose.edits.literals import set_argument
from stepscope.diagnose.edits.loop import call_on, parameters_of, with_no_grad
from stepscope.diagnose.source import Source

FILE = "/project/train.py"


def site_of(text: str, wanted: str) -> Any:
    """The site of the expression that is written so."""
    source = Source({FILE: text})
    file = source.file(FILE)
    assert file is not None
    for node in file.walk(ast.expr, ast.stmt):
        if ast.get_source_segment(text, node) == wanted and not isinstance(node, ast.Expr):
            return file.site(node)
    raise LookupError(wanted)


def edited(text: str, wanted: str, make: Callable[[Any], edits.Plan]) -> str | None:
    edit = edits.written(make(site_of(text, wanted)), Source({FILE: text}))
    return None if edit is None else changed_text(text, edit.changes)


LOOP = """\
import torch
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    loss = f(model(x), y)
    loss.backward()
    optimizer.step()
"""


def test_a_call_is_inserted_by_the_name_that_its_object_has_there() -> None:
    made = site_of(LOOP, "torch.optim.SGD(model.parameters(), lr=0.1)")
    got = edited(LOOP, "loss.backward()", lambda where: call_on("zero_grad", where, made=made))
    assert got == LOOP.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")


def test_no_call_is_inserted_where_the_name_means_something_else() -> None:
    text = "optimizer = SGD(p)\ndef train(optimizer, loss):\n    loss.backward()\n"
    made = site_of(text, "SGD(p)")
    assert edited(text, "loss.backward()", lambda where: call_on("zero_grad", where, made=made)) is None


@pytest.mark.parametrize(
    ("text", "wanted", "plan", "expected"),
    [
        ("if x: f(a); g(b)\n", "g(b)", lambda w: edits.before(w, "h()"), "if x: f(a); h(); g(b)\n"),
        ("if x:\n    f(a)  # why\n", "f(a)", lambda w: edits.after(w, "h()"), "if x:\n    f(a)  # why\n    h()\n"),
        ("f(a)", "f(a)", lambda w: edits.after(w, "h()"), "f(a)\nh()"),
        ("if x:\n    f(a)\n", "f(a)", edits.remove, "if x:\n    pass\n"),
        ("f(a)\ng(b)\n", "f(a)", edits.remove, "g(b)\n"),
        ("y = f(a, *rest)\n", "f(a, *rest)", lambda w: edits.keyword(w, "dim", "1"), None),
        ("y = f(a, **words)\n", "f(a, **words)", lambda w: edits.keyword(w, "dim", "1"), None),
        ("y = f(\n    a,\n)\n", "f(\n    a,\n)", lambda w: edits.keyword(w, "n", "2"), "y = f(\n    a, n=2,\n)\n"),
        ("y = f(a, n=1)\n", "f(a, n=1)", lambda w: edits.keyword(w, "n", "2"), "y = f(a, n=2)\n"),
        ("y = f(a, n=1, m=2)\n", "f(a, n=1, m=2)", lambda w: edits.not_keyword(w, "n"), "y = f(a, m=2)\n"),
        ("y = loss(b, a)\n", "loss(b, a)", edits.swap, "y = loss(a, b)\n"),
        ("y = é + a\n", "é + a", lambda w: edits.append(w, ".t()"), "y = (é + a).t()\n"),
        ("y = F.softmax(net(x), dim=1)\n", "F.softmax(net(x), dim=1)", tensors.left_out, "y = net(x)\n"),
        ("y = net(x).softmax(1)\n", "net(x).softmax(1)", tensors.left_out, "y = net(x)\n"),
        ("m = S(\n    A(),\n    nn.Softmax(),\n)\n", "nn.Softmax()", tensors.left_out, "m = S(\n    A(),\n)\n"),
        ("y = x.argmax(dim=0)\n", "x.argmax(dim=0)", lambda w: tensors.dim(w, 1), "y = x.argmax(dim=1)\n"),
        ("y = torch.max(x, 0)\n", "torch.max(x, 0)", lambda w: tensors.dim(w, 1), "y = torch.max(x, 1)\n"),
        ("y = a.mean()\n", "a.mean()", tensors.negated, "y = -a.mean()\n"),
        ("y = -a.mean()\n", "a.mean()", tensors.negated, "y = a.mean()\n"),
        ("y = a // b\n", "a // b", tensors.true_division, "y = a / b\n"),
        ("a += b\n", "a += b", tensors.not_in_place, "a = a + b\n"),
        ("y = a / b.std()\n", "a / b.std()", lambda w: tensors.kept_away(w, "div"), "y = a / (b.std() + 1e-8)\n"),
        ("l = nn.Linear(4 * 4, 2)\n", "nn.Linear(4 * 4, 2)", lambda w: layers.sized(w, "in_features", 9),
         "l = nn.Linear(9, 2)\n"),
        ("l = block(16, 2)\n", "block(16, 2)", lambda w: layers.sized(w, "in_features", 9), None),
        ("import torch\nw += 1\n", "w += 1", with_no_grad, "import torch\nwith torch.no_grad():\n    w += 1\n"),
        ("from torch import nn\nw += 1\n", "w += 1", with_no_grad, None),
        ("from __future__ import annotations\nimport os\nb = m.state_dict()\n", "m.state_dict()", modes.deep_copied,
         "from __future__ import annotations\nimport copy\nimport os\nb = copy.deepcopy(m.state_dict())\n"),
    ],
)  # fmt: skip
def test_a_plan_changes_this_and_nothing_else(
    text: str, wanted: str, plan: Callable[[Any], edits.Plan], expected: str | None
) -> None:
    assert edited(text, wanted, plan) == expected


def test_a_statement_is_moved_with_its_comment_and_indentation() -> None:
    text = "for x in data:\n    step()  # too early\n    loss.backward()\n"
    backward = site_of(text, "loss.backward()")
    got = edited(text, "step()", lambda where: edits.move_after(where, backward))
    assert got == "for x in data:\n    loss.backward()\n    step()  # too early\n"


def test_a_statement_leaves_its_loop_only_if_it_needs_nothing_of_it() -> None:
    text = "for n in data:\n    o = SGD(p)\n    u = SGD(n)\n"
    assert edited(text, "SGD(p)", tensors.hoisted) == "o = SGD(p)\nfor n in data:\n    u = SGD(n)\n"
    assert edited(text, "SGD(n)", tensors.hoisted) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LR = 3.0\no = SGD(p, lr=LR)\n", "LR = 0.1\no = SGD(p, lr=LR)\n"),
        ('C = dict(lr=3.0)\no = SGD(p, lr=C["lr"])\n', 'C = dict(lr=0.1)\no = SGD(p, lr=C["lr"])\n'),
        ("def f(lr):\n    o = SGD(p, lr=lr)\nf(lr=3.0)\n", "def f(lr):\n    o = SGD(p, lr=lr)\nf(lr=0.1)\n"),
        ('a("--lr", default=3.0)\no = SGD(p, lr=args.lr)\n', 'a("--lr", default=3.0)\no = SGD(p, lr=0.1)\n'),
        ("LR = 3.0\nLR = 2.0\no = SGD(p, lr=LR)\n", "LR = 3.0\nLR = 2.0\no = SGD(p, lr=0.1)\n"),
    ],
)
def test_a_value_is_changed_where_it_is_written(text: str, expected: str) -> None:
    call = next(line for line in text.split("\n") if "SGD" in line).partition("= ")[2]
    assert edited(text, call, lambda where: set_argument(where, 1, "lr", "0.1")) == expected


def test_parameters_are_added_in_the_form_they_are_given_in() -> None:
    text = "a = A()\nb = B()\no = SGD(a.parameters(), lr=1)\nu = SGD([{'params': x}], lr=1)\n"
    model = site_of(text, "B()")
    first = edited(text, "SGD(a.parameters(), lr=1)", lambda w: parameters_of(w, model, instead=False))
    second = edited(text, "SGD([{'params': x}], lr=1)", lambda w: parameters_of(w, model, instead=False))
    assert first is not None
    assert "SGD([*a.parameters(), *b.parameters()], lr=1)" in first
    assert second is not None
    assert """SGD([{'params': x}, {"params": b.parameters()}], lr=1)""" in second


def test_what_would_not_parse_is_no_edit() -> None:
    assert edited("y = f(a)\n", "f(a)", lambda where: edits.replace(where, "f(")) is None
