from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.ops import GAUSSIAN
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_sign import divergences, same, scaled_source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_LOG_VARIANCE = re.compile(r"log_?(var|sigma_?(2|sq|squared))|(^|_)lv($|_)", re.I)


@rule("math.reparam-std", severity="error", follows=("loss.kl-sign",))
def reparam_std(run: Evidence) -> Iterator[Proof]:
    """Noise is scaled with a variance or a log-variance where a standard deviation belongs.

    Why it matters: `mu + std * noise` has the variance that the rest of the loss assumes only if `std` is the square
    root of the variance. Otherwise the samples and the KL term speak of two different distributions.

    What to do: `std = torch.exp(0.5 * logvar)`.

    How it is found: what the noise is multiplied with is followed back. The KL term of the same loss takes exp of it as
    the variance, or its name says that it is a variance or its logarithm; and there is no root and no factor 0.5.

    Bad:
        z = mu + torch.exp(logvar) * torch.randn_like(mu)
    Good:
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
    """
    found: dict[Place | None, list[tuple[Origin, str]]] = {}
    for backward in list(run.steps.backwards)[:12]:
        loss = backward.origin
        if loss is None:
            continue
        scaled = [product for product in loss.ancestors(4000) if _scale_of(product) is not None]
        variances = dict(_log_variances(loss)) if scaled else {}
        for product in scaled:
            said = _wrong_scale(run, product, variances)
            if said:
                found.setdefault(product.place, []).append((product, said))
    for place, several in found.items():
        if place is None or (len(several) < 2 and not run.over):
            continue
        product, said = several[0]
        yield Proof(
            where=_where(product) or place,
            message=f"noise is scaled with {said}, not with the standard deviation",
            label="this multiplies the noise",
            evidence={"times": len(several), "shape": list(product.shape)},
            edit=tensors.halved_exponent(_where(product) or place),
            fix="use std = torch.exp(0.5 * logvar)",
            related=[(place, "the noise is scaled here")] if _where(product) not in (None, place) else [],
        )


def _where(product: Origin) -> Place | None:
    """The exp that makes the scale, or the product itself when there is none."""
    scale = _scale_of(product)
    made = None if scale is None else same(scale)
    return made.place if made is not None and made.op == "exp" else product.place


def _log_variances(loss: Origin) -> Iterator[tuple[int, float]]:
    """Tensors of which the KL term says `exp(k * L)` is the variance, with that k."""
    for one in divergences(loss):
        high = same(one.exponential.origin)
        if high.op == "exp" and high.inputs:
            base, factor = scaled_source(high.inputs[0])
            yield id(same(base)), factor


def _scale_of(product: Origin) -> Origin | None:
    """What pure noise is multiplied with."""
    if product.op not in ("mul", "mul_") or len(product.inputs) != 2:
        return None
    first, second = product.inputs
    for noise, scale in ((first, second), (second, first)):
        if same(noise).op in GAUSSIAN and scale.requires_grad and noise.shape:
            return scale
    return None


def _wrong_scale(run: Evidence, product: Origin, variances: dict[int, float]) -> str:
    scale = _scale_of(product)
    if scale is None:
        return ""
    made = same(scale)
    if made.op == "exp" and made.inputs:
        base, factor = scaled_source(made.inputs[0])
        known = variances.get(id(same(base)))
        if known is not None:
            return "exp(logvar), the variance" if abs(factor - known) < 1e-6 else ""
        named = _LOG_VARIANCE.search(_name(run, same(base), made))
        return "exp of a log-variance, which is the variance" if named and abs(factor - 1) < 1e-6 else ""
    if id(made) in variances:
        return "the log-variance itself"
    if made.op in ("linear", "chunk", "split", "getitem", "addmm") and _LOG_VARIANCE.search(_name(run, made, product)):
        return "the log-variance itself"
    return ""


def _name(run: Evidence, origin: Origin, reader: Origin) -> str:
    """What the script calls a tensor: the layer that made it, its parameter's name, or the argument it is passed as."""
    names = [origin.name or ""]
    if origin.visit is not None:
        names.append(origin.visit.path.rpartition(".")[2])
    expression = run.source.expression(reader.place)
    if expression is not None:
        names += [node.id for node in ast.walk(expression) if isinstance(node, ast.Name)]
        names += [node.attr for node in ast.walk(expression) if isinstance(node, ast.Attribute)]
    return " ".join(name for name in names if _LOG_VARIANCE.search(name))
