from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.common.units import counted
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import called_name
from stepscope.evidence.crash import Callee
from stepscope.records.step import Site

_GIVEN = {
    "register_forward_hook": "module, inputs, output",
    "register_forward_pre_hook": "module, inputs",
    "register_full_backward_hook": "module, grad_input, grad_output",
    "register_full_backward_pre_hook": "module, grad_output",
    "register_backward_hook": "module, grad_input, grad_output",
    "register_module_forward_hook": "module, inputs, output",
    "register_hook": "grad",
    "register_post_accumulate_grad_hook": "parameter",
    "register_step_pre_hook": "optimizer, args, kwargs",
    "register_step_post_hook": "optimizer, args, kwargs",
    "collate_fn": "samples",
    "worker_init_fn": "worker_id",
    "lr_lambda": "epoch",
    "LambdaLR": "epoch",
    "Lambda": "image",
    "apply": "module",
}
"""What PyTorch calls a function with, by the call or the argument it is registered with."""
_WRONG = re.compile(r"takes (?:from \d+ to )?\d+ positional arguments? but (\d+)|missing \d+ required positional")


@rule("api.callback-arguments", severity="error", needs="crash")
def callback_arguments(run: Evidence) -> Iterator[Proof]:
    """A function that PyTorch calls (a hook, a `collate_fn`, a learning rate's lambda) has the wrong parameters.

    Why it matters: the error appears at the line of the model or the loop, which is right. PyTorch decides what it
    calls the function with.

    What to do: give the function the parameters that PyTorch passes: `hook(module, inputs, output)` for a forward hook,
    one list of samples for a `collate_fn`.

    Bad:
        def save(module, output): ...
        layer.register_forward_hook(save)
    Good:
        def save(module, inputs, output): ...
        layer.register_forward_hook(save)
    """
    crash = run.crash
    callee = None if crash is None else crash.callee
    if crash is None or callee is None or not crash.frames or crash.frames[-1].own or not _WRONG.search(crash.text):
        return
    name = callee.name.rpartition(".")[2]
    registered = _registered(run, name)
    if registered is None:
        return
    where, by = registered
    given = _GIVEN[by]
    right = f"self, {given}" if _is_method(run, callee) else given
    new = f"lambda {given}: ..." if name == "<lambda>" else f"def {name}({right}):"
    yield Proof(
        where=callee.site or where,
        message=f"{by} calls `{name}` with {counted(given.count(',') + 1, 'argument')} ({given}), and it takes "
        f"{', '.join(callee.parameters) or 'other ones'}",
        label=f"PyTorch passes {given}",
        evidence={"function": name, "registered_with": by, "passed": given.split(", ")},
        fix=f"write {new}",
        related=[(where, "PyTorch is told to call it here"), (crash.site, "it is called while this runs")]
        if callee.site is not None
        else [(crash.site, "it is called while this runs")],
    )


def _registered(run: Evidence, name: str) -> tuple[Site, str] | None:
    """The call that hands the function to PyTorch, and what it is handed over as."""
    for file in run.source.files():
        for call in file.walk(ast.Call):
            for word, value in [*((None, one) for one in call.args), *((one.arg, one.value) for one in call.keywords)]:
                by = word if word in _GIVEN else called_name(call)
                if by in _GIVEN and _means(value, name):
                    return file.site(call), by
    return None


def _means(value: ast.expr, name: str) -> bool:
    if isinstance(value, ast.Lambda):
        return name == "<lambda>"
    return isinstance(value, (ast.Name, ast.Attribute)) and said(value, 200).rpartition(".")[2] == name


def _is_method(run: Evidence, callee: Callee) -> bool:
    site = callee.site
    file = None if site is None else run.source.file(site.file)
    if file is None or site is None:
        return False
    named = [one for one in file.walk(ast.FunctionDef) if one.name == callee.name.rpartition(".")[2]]
    return any(isinstance(file.parents.get(one), ast.ClassDef) for one in named)
