from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.attributes import assigned_at
from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.modules import LooseTensor, Module
from stepscope.evidence.origins import NOISE


@rule("model.plain-tensor", severity="error", needs="steps, crash")
def plain_tensor(run: Evidence) -> Iterator[Proof]:
    """A weight of a module is a plain tensor, not an `nn.Parameter`: it never learns.

    Why it matters: `model.parameters()` does not have it, so the optimizer never moves it; it is not saved and does not
    go to the device either.

    What to do: `nn.Parameter(...)` for what should learn, `register_buffer` for what should not.

    How it is found: an attribute of a module is a plain float tensor that the loss was computed from and that no
    optimizer has. An error when it asks for gradients, and gets them; a warning when it was drawn at random, is called
    as weights are, and never changed.

    Bad:
        self.weight = torch.randn(8, 8, requires_grad=True)
    Good:
        self.weight = nn.Parameter(torch.randn(8, 8))
    """
    if max((len(run.steps.of_optimizer(made.number)) for made in run.optimizers.made), default=0) < 3:
        return
    held = {id(p) for made in run.optimizers.made for p in made.parameters}
    used: set[int] | None = None
    for part, name, tensor in _plain_attributes(run):
        if id(tensor.tensor) in held or not tensor.is_leaf:
            continue
        if tensor.requires_grad:
            if tensor.has_grad:
                yield _proof(run, part, name, tensor, "asks for gradients and gets them")
            continue
        if not _is_weight(name, tensor):
            continue
        used = _used(run) if used is None else used
        if id(tensor.origin) in used and not _says_so(run, part, name):
            yield _proof(run, part, name, tensor, "was drawn at random and has not changed since")


_WEIGHTS = re.compile(r"weight|kernel|query|embed|token|latent|prompt|proto|codebook|^[wW]\d*$|^W_\w+$")
_MEANT = re.compile(r"random|fixed|reservoir|echo|fourier|project|hash|frozen|noise|not train|untrain", re.I)


def _is_weight(name: str, tensor: LooseTensor) -> bool:
    origin = tensor.origin
    random = origin is not None and bool(origin.tags & NOISE) and origin.visit is None and origin.step == 0
    return random and bool(tensor.shape) and tensor.version <= 1 and bool(_WEIGHTS.search(name))


def _says_so(run: Evidence, part: Module, name: str) -> bool:
    """Whether the class, the name or the lines around it say that this is meant to stay as it was drawn."""
    site = assigned_at(run, part, name)
    file = None if site is None else run.source.file(site.file)
    around = "" if file is None or site is None else "\n".join(file.lines[max(0, site.line - 4) : site.line + 1])
    words = re.sub(r"torch\.\w+|randn?\b", "", around)
    return bool(_MEANT.search(f"{part.type} {name} {words}"))


def _plain_attributes(run: Evidence) -> Iterator[tuple[Module, str, LooseTensor]]:
    seen: set[int] = set()
    for model in run.models.present:
        for part in model.module.modules():
            for name, value in part.tensors.items():
                if id(value.tensor) not in seen:
                    seen.add(id(value.tensor))
                    yield part, name, value


def _used(run: Evidence) -> set[int]:
    """What the losses were computed from."""
    found: set[int] = set()
    for backward in list(run.steps.backwards)[:3]:
        if backward.origin is not None:
            found.update(id(origin) for origin in backward.origin.ancestors(10_000))
            found.update(id(source) for origin in backward.origin.ancestors(10_000) for source in origin.inputs)
    return found


def _proof(run: Evidence, part: Module, name: str, tensor: LooseTensor, why: str) -> Proof:
    origin = tensor.origin
    where = assigned_at(run, part, name) or (origin.place if origin is not None else None)
    return Proof(
        where=where,
        message=f"self.{name} of {part.type} is a plain tensor: it {why}, but no optimizer can have it",
        label="not an nn.Parameter: model.parameters() does not include it",
        evidence={"attribute": name, "module": part.type, "shape": list(tensor.shape)},
        edit=layers.wrapped_value(where, name, "nn.Parameter"),
        fix=f"self.{name} = nn.Parameter(...)",
        severity=None if tensor.requires_grad else "warning",
    )
