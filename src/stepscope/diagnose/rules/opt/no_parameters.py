from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose import edits
from stepscope.diagnose.crash.bindings import bindings_in, node_site
from stepscope.diagnose.crash.classes import own_class
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.optimized import model_given
from stepscope.diagnose.crash.used_up import UsedUp, used_up
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

_LAYERS = ("Linear", "Conv", "Embedding", "LSTM", "GRU", "RNN", "Sequential", "Parameter", "Norm", "Attention")


@rule("opt.no-parameters", severity="error", needs="crash", follows=("api.missing-method", "api.no-super-init"))
def no_parameters(run: Evidence) -> Iterator[Proof]:
    """The optimizer was given no parameters: what it was made of holds none, or they were used up before.

    Why it matters: there is nothing to train. Layers in a plain list, dict or tensor are not parameters of the model.

    What to do: keep layers in `nn.ModuleList` or as attributes, single weights in `nn.Parameter`; pass the parameters
    of the model, not of the loss; make a list of a generator that is used twice.

    Bad:
        self.layers = [nn.Linear(8, 8), nn.Linear(8, 2)]
    Good:
        self.layers = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 2)])
    """
    crash = run.crash
    if crash is None or crash.last is None or not crash.says(r"optimizer got an empty parameter list"):
        return
    model = model_given(crash)
    hidden = None if model is None else _hidden(crash, model)
    used = _used(crash)
    if used is not None:
        yield Proof(
            where=used.used,
            message=f"this line uses up `{used.name}`, a generator: nothing is left in it for the optimizer",
            label="goes through it once",
            evidence={"generator": used.made_text},
            edit=edits.replace(used.made, lambda file, node: f"list({edits.text_of(file, node)})"),
            fix=f"make it a list: {used.name} = list({used.made_text})",
            related=[(used.made, "it is made here"), (crash.site, "the optimizer finds it empty")],
        )
    elif model is None:
        yield Proof(
            where=crash.site,
            message="the optimizer was given an empty list of parameters",
            label="nothing to train here",
            fix="pass model.parameters(); make a list if a generator is used twice: params = list(...)",
        )
    elif hidden is not None:
        site, text = hidden
        yield Proof(
            where=site,
            message=f"{model.type} keeps its layers where PyTorch does not see them: its parameter list is empty",
            label="not registered as layers",
            evidence={"model": model.type, "kept": text},
            fix=f"use {_holder(text)}, so that the model knows them",
            related=[(crash.site, "the optimizer finds no parameters")],
        )
    else:
        others = [name for name, value, _ in crash.values() if isinstance(value, Module) and _has_parameters(value)]
        better = f"{others[0]}.parameters()" if others else "the parameters of the model that is to be trained"
        yield Proof(
            where=crash.site,
            message=f"{model.type} has no parameters, so the optimizer has nothing to train",
            label=f"{model.type}.parameters() is empty",
            evidence={"model": model.type, "others": others[:3]},
            fix=f"pass {better}",
        )


def _holder(kept: str) -> str:
    """What registers its parts, for a list, a dict or a tensor."""
    if kept.startswith(("a dict", "{")):
        return "nn.ModuleDict({...})"
    return "nn.Parameter(...)" if kept.startswith(("a Tensor", "a tensor", "torch.")) else "nn.ModuleList([...])"


def _used(crash: Crash) -> UsedUp | None:
    """The generator the optimizer was given, where an earlier line has gone through it."""
    frame = crash.last
    call = None if frame is None else frame.running
    if frame is None or not isinstance(call, ast.Call):
        return None
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "params")]
    return used_up(crash, frame, given[0]) if given else None


def _has_parameters(model: Module) -> bool:
    return any(part.own for _, part in model.named_modules())


def _hidden(crash: Crash, model: Module) -> tuple[Site, str] | None:
    """A list, dict or tensor in the model's class that holds layers or weights."""
    found = own_class(crash, model.type)
    init = None if found is None else found.methods.get("__init__")
    for name, hidden in model.hidden.items() if found is not None and init is not None else ():
        bound = bindings_in(found.file, init, f"self.{name}") if found is not None and init is not None else []
        if bound:
            return node_site(bound[0].file, bound[0].statement), f"a {hidden.kind}"
    for node in ast.walk(found.node) if found is not None else ():
        if not isinstance(node, ast.Assign) or found is None:
            continue
        kept = isinstance(node.value, (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp))
        made = [said(one.func) for one in ast.walk(node.value) if isinstance(one, ast.Call)]
        layers = any(any(kind in name for kind in _LAYERS) for name in made)
        weights = any(name.startswith("torch.") and name.endswith(("randn", "rand", "zeros", "ones")) for name in made)
        if said(node.targets[0]).startswith("self.") and ((kept and layers) or (not kept and weights)):
            return node_site(found.file, node), said(node.value)
    return None
