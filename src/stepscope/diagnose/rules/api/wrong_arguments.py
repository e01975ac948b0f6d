from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.crash.classes import function_in
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import Frame
from stepscope.diagnose.crash.layers import built_at
from stepscope.diagnose.crash.suggested import with_missing
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.crash import Callee
from stepscope.evidence.frame_values import HeldTensor
from stepscope.evidence.modules import Module
from stepscope.records.step import Site

_UNKNOWN = re.compile(r"unexpected keyword argument '(\w+)'")
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)")
_TAKES = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+)")
_DECODERS = ("TransformerDecoder", "TransformerDecoderLayer")
_ENCODERS = ("TransformerEncoder", "TransformerEncoderLayer", "RNNBase", "_ConvNd")
_TWICE = re.compile(r"multiple values for argument '(\w+)'")

_CALLERS = (".trace", ".export", ".vmap", ".summary")


@rule(
    "api.wrong-arguments",
    severity="error",
    needs="crash",
    follows=("api.missing-method", "opt.lbfgs-no-closure", "api.deprecated", "api.callback-arguments"),
)
def wrong_arguments(run: Evidence) -> Iterator[Proof]:
    """A function, a layer or an optimizer was called with arguments that it does not take.

    Why it matters: the call fails before anything is computed.

    What to do: compare the call with the signature that is shown: leave out what is too much, add what is missing, use
    the name the function knows.

    Bad:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, momentum=0.9)
    Good:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.999))
    """
    crash = run.crash
    callee = None if crash is None else crash.callee
    if crash is None or callee is None or crash.site is None:
        return
    forgotten = _without_self(callee)
    if forgotten:
        yield Proof(
            where=callee.site,
            message=f"the method `{callee.name}` has no `self`: the object itself takes the place of `{forgotten}`",
            label="the first parameter must be `self`",
            evidence={"function": callee.name, "parameters": callee.parameters},
            fix=f"write `self` first: def {callee.name.rpartition('.')[2]}(self, {', '.join(callee.parameters)})",
            related=[(crash.site, "called here")],
        )
        return
    chained = _in_sequential(crash, callee)
    if chained is not None:
        yield chained
        return
    message, fix = _in_words(crash, callee)
    key = _in_dict(run, crash)
    signature = f"{callee.name}({', '.join(callee.parameters)})" if callee.parameters else callee.name
    yield Proof(
        where=key or crash.site,
        message=message,
        label=f"takes {', '.join(callee.parameters)}" if callee.parameters else "",
        evidence={"function": callee.name, "signature": signature},
        fix=fix,
        related=[
            *([(crash.site, "it is passed on here")] if key is not None else []),
            *([(callee.site, "it is defined here")] if callee.site is not None else []),
        ],
    )


def _in_sequential(crash: Crash, callee: Callee) -> Proof | None:
    """A layer of an `nn.Sequential` that needs more than the one value it is handed."""
    missing = _MISSING.search(crash.text)
    layer = crash.layer
    module = None if layer is None else layer.frame.locals.get("module")
    if missing is None or layer is None or not layer.module.is_a("Sequential") or not isinstance(module, Module):
        return None
    path = next((path for path, part in layer.module.named_modules() if part is module), "")
    names = re.findall(r"'(\w+)'", missing[1])
    lacking = " and ".join(f"`{one}`" for one in names)
    return Proof(
        where=built_at(crash.modules, layer.root, f"{layer.path}.{path}".strip(".")) or crash.site,
        message=f"nn.Sequential hands on one value from layer to layer, and `{callee.name}` also needs {lacking}",
        label=f"takes {', '.join(callee.parameters)}",
        evidence={"function": callee.name, "missing": names},
        fix=f"call the layers one by one in the forward of a module of your own, and pass {lacking} there",
        related=[(crash.site, "the Sequential is called here"), (callee.site, "it is defined here")],
    )


def _in_dict(run: Evidence, crash: Crash) -> Site | None:
    """The entry of a dict that became an unknown argument through `**config`."""
    unknown = _UNKNOWN.search(crash.text)
    call = None if crash.last is None else crash.last.running
    if unknown is None or not isinstance(call, ast.Call) or all(word.arg is not None for word in call.keywords):
        return None
    names = [
        file.site(key)
        for file in run.source.files()
        for one in file.walk(ast.Dict)
        for key in one.keys
        if isinstance(key, ast.Constant) and key.value == unknown[1]
    ]
    return names[0] if len(names) == 1 and unknown[1] not in {word.arg for word in call.keywords} else None


def _without_self(callee: Callee) -> str:
    """The first parameter of a method that lacks `self`; "" for any other function."""
    site = callee.site
    function = None if site is None else function_in(site.file, site.function, site.line)
    if function is None or "." not in callee.name or "<locals>" in callee.name or function.decorator_list:
        return ""
    first = [one.arg for one in (*function.args.posonlyargs, *function.args.args)][:1]
    return "" if first in (["self"], ["cls"]) or function.args.vararg is not None else (first or ["()"])[0]


def _in_words(crash: Crash, callee: Callee) -> tuple[str, str]:
    name = callee.name
    known = [one.partition("=")[0] for one in callee.parameters]
    unknown = _UNKNOWN.search(crash.text)
    if unknown is not None:
        near = _closest(unknown[1], known)
        fix = f"write `{near}=` instead" if near else f"leave `{unknown[1]}=` out"
        takes = f"; it takes {', '.join(callee.parameters)}" if callee.parameters else ""
        return f"`{name}` has no parameter `{unknown[1]}`", fix + ("" if near else takes)
    missing = _MISSING.search(crash.text)
    if missing is not None:
        names = re.findall(r"'(\w+)'", missing[1])
        skipped = _skipped(crash, known, names)
        if skipped is not None:
            return skipped
        return f"`{name}` also needs {' and '.join(f'`{one}`' for one in names)}", _pass_it(crash, names)
    number = _TAKES.search(crash.text)
    if number is not None:
        bound = 1 if "." in name else 0
        wants, got = int(number[1]) - bound, int(number[2]) - bound
        more = "leave out what it does not take"
        fix = (
            f"{more}, or give `{name}` a parameter for it"
            if callee.site is not None
            else f"{more}, or name the argument"
        )
        return f"`{name}` takes {wants} argument{'s' * (wants != 1)}, and {got} are given here", fix
    twice = _TWICE.search(crash.text)
    if twice is not None:
        return (
            f"`{name}` gets `{twice[1]}` twice: by its position and by its name",
            f"leave `{twice[1]}=` out, or name all",
        )
    return crash.text, "compare the call with the signature"


def _skipped(crash: Crash, known: list[str], missing: list[str]) -> tuple[str, str] | None:
    """One argument was left out in the middle: the one that Python misses stands in its place."""
    frame = crash.last
    call = None if frame is None else frame.running
    if frame is None or not isinstance(call, ast.Call) or len(missing) != 1 or call.keywords:
        return None
    given = [one.id if isinstance(one, ast.Name) else "" for one in call.args]
    at = given.index(missing[0]) if missing[0] in given else -1
    if at < 0 or at >= len(known) or known[at] == missing[0] or given[:at] != known[:at]:
        return None
    lacking = known[at]
    value = lacking if lacking in frame.locals else _closest(lacking, list(frame.locals)) or lacking
    written = [*map(ast.unparse, call.args[:at]), value, *map(ast.unparse, call.args[at:])]
    return (
        f"`{lacking}` is left out, so `{missing[0]}` stands in its place",
        f"pass it before `{missing[0]}`: {ast.unparse(call.func)}({', '.join(written)})",
    )


def _pass_it(crash: Crash, names: list[str]) -> str:
    """The call with what it lacks; a decoder that has nothing to attend to was meant as an encoder with a mask."""
    frame = crash.last
    call = None if frame is None else frame.running
    layer = crash.layer
    module = layer.module if layer is not None and layer.frame is not frame else called_module(crash)
    if names == ["memory"] and module is not None and module.is_a(*_DECODERS) and not _encodes(crash):
        other = module.type.replace("Decoder", "Encoder")
        return f"nothing is encoded here to attend to: a model of one sequence uses nn.{other} with a causal mask"
    if names == ["metrics"] and frame is not None:
        names = [_measured(frame) or "val_loss"]
    caller = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    if caller.endswith(_CALLERS):
        return f"`{caller}` calls it: give the arguments together, as a tuple with one for each"
    written = with_missing(call, names) if isinstance(call, ast.Call) else ""
    return f"pass it here: {written}" if written else "pass it here"


def _measured(frame: Frame) -> str:
    """The variable a plateau scheduler is to watch: a single number, that of the validation before that of training."""

    def rank(name: str) -> int:
        words = name.lower()
        return 2 * ("val" in words or "eval" in words or "test" in words) + ("loss" in words)

    single = [name for name, value in frame.locals.items() if type(value) is float or _is_scalar(value)]
    best = max(single, key=rank, default="")
    return "" if not best or not rank(best) else f"{best}.item()" if _is_scalar(frame.locals[best]) else best


def _is_scalar(value: object) -> bool:
    return isinstance(value, HeldTensor) and value.ndim == 0 and value.is_floating


def called_module(crash: Crash) -> Module | None:
    """The module that the failing line calls."""
    call = None if crash.last is None else crash.last.running
    value = crash.last.value_of(call.func) if crash.last is not None and isinstance(call, ast.Call) else None
    return value if isinstance(value, Module) else None


def _encodes(crash: Crash) -> bool:
    """Whether the model has an encoder, or the frame something that may be its output."""
    frame = crash.last
    owner = None if frame is None else frame.module
    parts = [] if owner is None else [module for _, module in owner.named_modules()]
    known = frame is not None and "memory" in frame.locals
    return known or any(part.is_a(*_ENCODERS) for part in parts)


def _closest(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1, 0.6)
    inside = [one for one in known if len(name) > 2 and (name in one or one in name) and len(one) > 2]
    return (near or inside or [""])[0]
