from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.classes import OwnClass, method_like, own_class
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.optimized import model_given
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_NO_FORWARD = re.compile(r'Module \[(\w+)\] is missing the required "forward" function')
_NO_LEN = re.compile(r"object of type '(\w+)' has no len\(\)")
_INIT = re.compile(r"^(\w+)(?:\.__init__)?\(\) takes (?:1 positional argument|no arguments)")
_USED = {"forward": "called", "__init__": "used", "__len__": "measured", "__getitem__": "indexed"}


@rule("api.missing-method", severity="error", needs="crash")
def missing_method(run: Evidence) -> Iterator[Proof]:
    """A class has no `forward`, `__init__`, `__len__` or `__getitem__`, or one whose name is not quite right.

    Why it matters: Python and PyTorch call these methods by their exact name. One called `__int__` or `foward`, or one
    indented into another method, is never found.

    What to do: write the exact name, at the indentation of the other methods.

    Bad:
        def foward(self, x):
            return self.fc(x)
    Good:
        def forward(self, x):
            return self.fc(x)
    """
    crash = run.crash
    if crash is None or crash.last is None:
        return
    for kind, wanted in _wanted(crash):
        found = own_class(crash, kind)
        if found is None and wanted == "forward":
            yield from _no_forward(crash, kind)
            return
        if found is None or wanted in found.methods:
            continue
        proof = _explained(crash, found, wanted)
        if proof is not None:
            yield proof
            return


def _wanted(crash: Crash) -> Iterator[tuple[str, str]]:
    """The class that lacks a method, and which."""
    if crash.is_a("NotImplementedError"):
        told = _NO_FORWARD.search(crash.text)
        if told is not None:
            yield told[1], "forward"
        if crash.frames[-1].function == "__getitem__":
            owner = crash.frames[-1].locals.get("self")
            yield getattr(owner, "type", ""), "__getitem__"
    told = _NO_LEN.search(crash.text)
    if told is not None:
        yield told[1], "__len__"
    told = _INIT.search(crash.text)
    if told is not None:
        yield told[1], "__init__"
    if crash.missing is not None and crash.is_a("AttributeError"):
        yield crash.missing.owner, "__init__"
    if crash.says(r"empty parameter list"):
        model = model_given(crash)
        if model is not None:
            yield model.type, "__init__"


def _explained(crash: Crash, found: OwnClass, wanted: str) -> Proof | None:
    kind = found.node.name
    almost, nested = method_like(found, wanted), found.nested(wanted)
    if almost is None and nested is None and wanted == "__init__":
        return None  # a class may do without
    function = almost or nested
    if almost is not None:
        said, fix = (
            f"{kind} has `{almost.name}`, which Python never calls: it is not `{wanted}`",
            f"rename it to `{wanted}`",
        )
    elif nested is not None:
        said, fix = f"`{wanted}` is indented into another method of {kind}", "move it to the left, beside `__init__`"
    else:
        said, fix = f"{kind} has no `{wanted}`", f"define `def {wanted}(self, ...)` in {kind}"
    return Proof(
        where=found.site if function is None else node_site(found.file, function),
        message=said,
        label=f"not `{wanted}`" if function is not None else f"no `{wanted}` in here",
        evidence={"class": kind, "wanted": wanted, "there": list(found.methods)[:12]},
        fix=fix,
        related=[(crash.site, f"{kind} is {_USED[wanted]} here")],
    )


def _no_forward(crash: Crash, kind: str) -> Iterator[Proof]:
    """A container of torch's: `ModuleList` and `ModuleDict` only hold layers."""
    layer = crash.layer
    loop = "call its layers yourself: `for layer in layers: x = layer(x)`"
    fix = f"use nn.Sequential(*layers), or {loop}" if kind == "ModuleList" else "call the layer you want by its key"
    yield Proof(
        where=(None if layer is None else layer.site) or crash.site,
        message=f"a {kind} only holds layers; it cannot be called",
        label=f"a {kind}",
        evidence={"class": kind},
        fix=fix if kind in ("ModuleList", "ModuleDict") else f"define `forward` for {kind}",
        related=[(crash.site, "it is called here")],
    )
