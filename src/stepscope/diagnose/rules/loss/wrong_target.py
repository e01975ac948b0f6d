from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.ops import CASTS, NOISE
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall
from stepscope.evidence.origins import PARAMETER, Origin

_COMPARING = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
              "binary_cross_entropy_with_logits")  # fmt: skip
_NOISY = re.compile(r"nois|corrupt|perturb|degrad|masked|distort|(^|_)(x|z)_?t$|(^|_)xt$", re.I)
_NOISE = NOISE | {"dropout"}
_OF_NOISE = re.compile(r"noise(?!d)|(^|_)eps", re.I)
_CLEAN = re.compile(r"clean|orig|(^|_)x_?0$|(^|_)x_?start$|signal", re.I)


@rule("loss.wrong-target", severity="warning", follows=("loss.swapped-args",))
def wrong_target(run: Evidence) -> Iterator[Proof]:
    """The loss compares the prediction with the wrong tensor.

    Why it matters: the loss falls, but the model learns something else: to copy its noisy input instead of cleaning
    it, or the image where the sampler expects the noise.

    What to do: compare with the clean sample (denoising) or with the noise that was added (diffusion).

    How it is found: the target is the very tensor the model was given, and that tensor is a noisy version of something
    else, by how it was made and by its name; or the batch brings a tensor of the same shape that nothing uses.

    Bad:
        noisy = x + 0.3 * torch.randn_like(x)
        loss = F.mse_loss(model(noisy), noisy)
    Good:
        noisy = x + 0.3 * torch.randn_like(x)
        loss = F.mse_loss(model(noisy), x)
    """
    for every in run.losses.by_place(*_COMPARING):
        calls = [call for call in every if call.step > 0] or every  # in the first step all that is made is fresh
        told = [(call, fault) for call in calls if (fault := _fault(run, call)) is not None]
        if len(told) < len(calls) or (len(told) < 2 and not run.over):
            continue
        call, (said, fix) = told[0]
        yield Proof(
            where=call.place,
            message=said,
            label="the target is what the model was given" if "given" in said else "",
            evidence={"calls": len(told), "loss": [one.value for one, _ in told[:4]]},
            fix=fix,
        )


def _fault(run: Evidence, call: LossCall) -> tuple[str, str] | None:
    target, prediction = call.target, call.input
    if target is None or prediction is None or target.requires_grad or target.tags & PARAMETER:
        return None
    fed = _fed(run, call)
    names = _names(run, call)
    made = target.back_through(CASTS)
    if any(made is one for one in fed):
        unused = _unused_twin(run, call, made)
        if unused:
            return (
                "the target is the model's own input; another tensor of the same shape in the batch is unused",
                "compare with the other tensor of the batch",
            )
        if _is_noised(made, call.step) and any(_NOISY.search(name) for name in names[1]):
            return (
                f"the target {names[1][-1]} is the noisy input of the model",
                "compare with the clean tensor, or with the noise that was added",
            )
        return None
    predicts_noise = any(_OF_NOISE.search(name) for name in _heads(run, call))
    noised = any(_is_noised(one, call.step) for one in fed)
    if predicts_noise and noised and not _is_noised(made, call.step) and any(_CLEAN.search(name) for name in names[1]):
        return (
            f"{names[0][-1]} is compared with {names[1][-1]}, not with the noise that was added",
            "compare with the noise tensor",
        )
    return None


def _fed(run: Evidence, call: LossCall) -> list[Origin]:
    """What the model behind the prediction was given."""
    prediction = call.input
    if prediction is None:
        return []
    visits = {id(o.visit.root): o.visit.root for o in prediction.ancestors(400) if o.visit is not None}
    return [given.back_through(CASTS) for visit in visits.values() for given in visit.inputs]


def _unused_twin(run: Evidence, call: LossCall, target: Origin) -> Origin | None:
    """Another tensor of the batch, of the same shape and type, that no loss of this batch depends on."""
    if target.kind != "data" or target not in call.batch or call.result is None:
        return None
    twins = [one for one in call.batch if one is not target and one.shape == target.shape and one.dtype == target.dtype]
    if len(twins) != 1 or len(target.shape) < 2:
        return None
    of_batch = [
        one.result for one in run.losses.calls if one.result is not None and any(two is target for two in one.batch)
    ]
    used = {id(one) for result in of_batch for one in result.ancestors(4000)}
    return None if id(twins[0]) in used else twins[0]


def _is_noised(origin: Origin, step: int) -> bool:
    """Fresh noise has gone into it."""
    return any(one.op in _NOISE and one.step == step for one in origin.ancestors(60))


def _heads(run: Evidence, call: LossCall) -> list[str]:
    """What the prediction is called, or the function that gives it: `eps_hat`, `noise_net` of `noise_net(noisy)`."""
    written = run.source.call(call.place)
    first = written.args[0] if written is not None and written.args else None
    while isinstance(first, ast.Call):
        first = first.func
    return [] if first is None else [*_words(first)]


def _words(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _names(run: Evidence, call: LossCall) -> tuple[list[str], list[str]]:
    written = run.source.call(call.place)
    found: list[list[str]] = [[], []]
    if written is not None:
        words = {word.arg: word.value for word in written.keywords}
        for number, word in enumerate(("input", "target")):
            argument = written.args[number] if len(written.args) > number else words.get(word)
            if argument is not None:
                found[number] = list(_words(argument))
    return found[0], found[1]
