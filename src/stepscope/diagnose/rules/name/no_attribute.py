from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.common.units import listed
from stepscope.diagnose.crash.bindings import bindings_in, node_site
from stepscope.diagnose.crash.classes import own_class
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.suspects import suspect_of
from stepscope.diagnose.crash.value_origin import Made, article, origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import Module

_PLAIN = ("list", "tuple", "dict", "str", "int", "float", "bool", "ndarray", "function", "method")
_OF_MODELS = frozenset((
    "eval", "train", "parameters", "named_parameters", "state_dict", "load_state_dict", "forward", "zero_grad",
    "modules", "named_modules", "children", "requires_grad_",
))  # fmt: skip
"""Whoever is asked for one of these should have been a model."""


@rule(
    "name.no-attribute",
    severity="error",
    needs="crash",
    follows=("name.rebound", "api.*", "api.none-result", "loss.not-a-tensor", "shape.*", "dtype.*", "dist.*"),
)
def no_attribute(run: Evidence) -> Iterator[Proof]:
    """An attribute, a method or a setting is used that the object does not have.

    Why it matters: the script stops there. Mostly the name is misspelled, or belongs to another version of a package.

    What to do: write the name that the object has.

    How it is found: the name is compared with everything the object holds: its attributes, layers, parameters and
    methods. If a model's method is called on something that is not a model, the line that made it is the cause.

    Bad:
        x = self.liner1(x)
    Good:
        x = self.linear1(x)
    """
    crash = run.crash
    missing = None if crash is None else crash.missing
    if crash is None or missing is None or not missing.owner or not crash.is_a("AttributeError"):
        return
    if crash.last is None or missing.owner == "NoneType":
        return
    if missing.name.startswith("_") and not missing.near:  # asked by a library, not by the line itself
        return
    if missing.owner in _PLAIN and suspect_of(crash) is not None:  # it is not what it should be: another rule's subject
        return
    local = _kept_local(crash, missing.owner, missing.name)
    if local is not None:
        yield local
        return
    near = missing.near
    made = _made_instead(crash) if missing.name in _OF_MODELS and not near else None
    if made is not None:
        yield _not_a_model(crash, made, missing.owner, missing.name)
        return
    there = f"; it has {listed(missing.there)}" if missing.there and not near else ""
    yield Proof(
        where=crash.site,
        message=f"{missing.owner} has no attribute `{missing.name}`{f', but it has `{near[0]}`' if near else there}",
        label=f"no `{missing.name}`",
        evidence={"object": missing.owner, "name": missing.name, "similar": near, "there": missing.there},
        fix=f"write `{near[0]}`" if near else f"use a name that {missing.owner} has, or define `{missing.name}` first",
    )


def _kept_local(crash: Crash, owner: str, name: str) -> Proof | None:
    """`dropout = nn.Dropout(p)` in `__init__`, where `self.dropout` was meant."""
    found = own_class(crash, owner)
    init = None if found is None else found.methods.get("__init__")
    made = [] if found is None or init is None else bindings_in(found.file, init, name)
    if not made:
        return None
    return Proof(
        where=made[0].site if made[0].value is None else node_site(made[0].file, made[0].statement),
        message=f"`{name}` is a variable of `__init__` only, not an attribute: `self.` is missing",
        label=f"gone when `__init__` ends; `self.{name}` is needed",
        evidence={"object": owner, "name": name},
        fix=f"write self.{name} = {said(made[0].value)}",
        related=[(crash.site, f"`self.{name}` is used here")],
    )


def _made_instead(crash: Crash) -> Made | None:
    """The call that made what is not a model, where that is a line of its own."""
    suspect = suspect_of(crash)
    made = None if suspect is None else origin_of(crash, suspect.frame, suspect.node)
    is_call = made is not None and made.binding is not None and isinstance(made.node, ast.Call)
    return made if is_call else None


def _not_a_model(crash: Crash, made: Made, owner: str, name: str) -> Proof:
    called = said(made.node.func, 60) if isinstance(made.node, ast.Call) else made.text
    loads = called.endswith("load_state_dict")
    gives = "a report of missing and unexpected keys" if loads else f"{article(owner)} {owner}"
    return Proof(
        where=made.site,
        message=f"`{called}` returns {gives}, not a model, and `.{name}()` is called on it",
        label=f"{article(owner)} {owner}",
        evidence={"object": owner, "name": name, "made_by": made.text},
        fix=f"do not assign the result: `{called}(...)` changes the model itself"
        if loads
        else _loaded(crash, made, owner) or "keep the model here",
        related=[(crash.site, f"`.{name}()` is called here")],
    )


def _loaded(crash: Crash, made: Made, owner: str) -> str:
    """Of a file with weights: load them into a model."""
    if owner not in ("OrderedDict", "dict") or not said(made.node).startswith("torch.load"):
        return ""
    models = [name for name, value, _ in crash.values() if isinstance(value, Module) and "." not in name]
    model = models[0] if len(set(models)) == 1 else "model"
    return f"the file holds only weights; load them into a model: {model}.load_state_dict({made.text})"
