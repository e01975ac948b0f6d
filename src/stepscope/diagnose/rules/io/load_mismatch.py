from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.layers import built_at
from stepscope.diagnose.edits.syntax import find
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.optimizers import Made
from stepscope.records.step import Site

_KEYS = re.compile(r'"([^"]+)"')
_SIZE = re.compile(r"size mismatch for (\S+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) .*?"
                   r"current model is torch\.Size\(\[([\d, ]*)\]\)")  # fmt: skip


@rule("io.load-mismatch", severity="error", needs="crash")
def load_mismatch(run: Evidence) -> Iterator[Proof]:
    """A checkpoint does not fit the model: names or sizes differ.

    Why it matters: the weights belong to another model, or were saved under a wrapper that puts `module.` before names.

    What to do: build the model as it was when it was saved, or rename the keys.

    Bad:
        model.load_state_dict(torch.load("ddp.pt"))               # keys begin with "module."
    Good:
        weights = {k.removeprefix("module."): v for k, v in torch.load("ddp.pt").items()}
        model.load_state_dict(weights)
    """
    crash = run.crash
    if crash is None:
        return
    if crash.says(r"different number of parameter groups|parameter group that doesn't match the size"):
        yield from _groups(run, crash)
    if not crash.says(r"error\(s\) in loading state_dict"):
        return
    text = crash.text
    sizes = _SIZE.findall(text)
    if sizes:
        yield _sizes(run, crash, sizes)
        return
    missing, unexpected = _listed(text, "Missing"), _listed(text, "Unexpected")
    evidence: dict[str, Any] = {"missing": missing[:8], "unexpected": unexpected[:8]}
    prefix = _prefix(missing, unexpected)
    if prefix is not None:
        added, where = prefix
        change = f"k.removeprefix('{added}')" if where == "file" else f"'{added}' + k"
        saved = _saved(run) if where == "file" else None
        wrapped = f"save the model inside the wrapper: model.{added}state_dict(); or " if added == "module." else ""
        yield Proof(
            where=saved or crash.site,
            message=f"the names in the {'checkpoint' if where == 'file' else 'model'} begin with '{added}', "
            f"those in the {'model' if where == 'file' else 'checkpoint'} do not",
            label=f"{len(unexpected)} names do not fit",
            evidence=evidence,
            fix=f"{wrapped}rename the keys: {{{change}: v for k, v in state.items()}}",
            related=[] if saved is None else [(crash.site, "loaded here")],
        )
        return
    yield Proof(
        where=crash.site,
        message=f"the checkpoint lacks {len(missing)} of the model's names and has {len(unexpected)} it does not know",
        label=f"missing {', '.join(missing[:3])}" if missing else f"not known: {', '.join(unexpected[:3])}",
        evidence=evidence,
        fix=_whole(unexpected) or "build the same model as when the checkpoint was saved",
    )


def _groups(run: Evidence, crash: Crash) -> Iterator[Proof]:
    """The state of an optimizer that was made over other parameters."""
    made = [one for one in run.optimizers.made if one.place is not None]
    if not made or made[-1].place is None:
        return
    last = made[-1]
    held = f"{len(last.parameters)} parameters in {last.groups} group{'s' if last.groups != 1 else ''}"
    saved = next((one for one in reversed(made[:-1]) if (len(one.parameters), one.groups) != _size(last)), None)
    other = "" if saved is None else f", not {len(saved.parameters)} in {saved.groups} as the one that was saved"
    yield Proof(
        where=last.place,
        message=f"this optimizer holds {held}{other}, so the saved state does not fit it",
        label=held,
        evidence={"parameters": len(last.parameters), "groups": last.groups},
        fix="build the optimizer as it was when its state was saved: the same parameters, in the same groups",
        related=[
            (crash.site, "the state is loaded here"),
            *([(saved.place, "the saved one was made here")] if saved is not None else []),
        ],
    )


def _size(made: Made) -> tuple[int, int]:
    return len(made.parameters), made.groups


def _saved(run: Evidence) -> Site | None:
    """Where this script has saved the file that it read last."""
    read = run.checkpoints.reads[-1].path if run.checkpoints.reads else None
    places = [one.place for one in run.checkpoints.writes if one.path == read and one.place is not None]
    return places[-1].site if places else None


def _sizes(run: Evidence, crash: Crash, sizes: list[tuple[str, str, str]]) -> Proof:
    name, saved, built = sizes[0]
    model = next((frame.module for frame in crash.frames if frame.function == "load_state_dict" and frame.module), None)
    site = None if model is None else built_at(crash.modules, model, name.rpartition(".")[0])
    seen = None if model is None else crash.modules.get(model)
    made = None if seen is None else seen.sites.get("")
    if made is not None and made.file in crash.own_files and site is not None:
        site = made if _is_passed_on(run, site) else site
    kind = "" if model is None else model.type
    return Proof(
        where=site or crash.site,
        message=f"{name} has shape [{saved}] in the checkpoint and [{built}] in the model",
        label=f"built as [{built}], saved as [{saved}]",
        evidence={"model": kind, "sizes": {n: {"saved": s, "model": b} for n, s, b in sizes[:8]}},
        fix=_new_layer(crash, sizes) or "build the layer with the saved size, or do not load it",
        related=[(crash.site, "loaded here")],
    )


def _new_layer(crash: Crash, sizes: list[tuple[str, str, str]]) -> str:
    """For one layer of another size, such as a new head: how to load the others without it."""
    layers = {name.rpartition(".")[0] for name, _, _ in sizes}
    frame = crash.last
    call = None if frame is None else frame.running
    if len(layers) != 1 or not isinstance(call, ast.Call) or not call.args or not isinstance(call.func, ast.Attribute):
        return ""
    if _listed(crash.text, "Missing") or _listed(crash.text, "Unexpected"):
        return "build the model with the same layers as the saved one: there are others in one of them"
    layer, state, model = layers.pop(), ast.unparse(call.args[0]), ast.unparse(call.func.value)
    saved = sizes[0][1].partition(",")[0]
    return (
        f"for a new {layer}, load everything else: {model}.load_state_dict({{k: v for k, v in {state}.items() "
        f'if not k.startswith("{layer}.")}}, strict=False); to continue with the old one, build it with size {saved}'
    )


def _is_passed_on(run: Evidence, built: Site) -> bool:
    """Whether a layer takes its sizes from the arguments of its class: then the line that made the model chose them."""
    found = find(run.source, built)
    if found is None or not isinstance(found[1], ast.Call):
        return False
    function = found[0].enclosing(found[1], ast.FunctionDef)
    names = set() if function is None else {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    parts = (part for argument in found[1].args for part in ast.walk(argument))
    return any(isinstance(part, ast.Name) and part.id in names for part in parts)


def _listed(text: str, kind: str) -> list[str]:
    found = re.search(rf"{kind} key\(s\) in state_dict: (.*)", text)
    return [] if found is None else _KEYS.findall(found[1])


def _prefix(missing: list[str], unexpected: list[str]) -> tuple[str, str] | None:
    """The prefix of every name on one side; ("module.", "file") for a checkpoint saved under a wrapper."""
    for there, here, where in ((unexpected, missing, "file"), (missing, unexpected, "model")):
        if there and here and there[0].endswith(here[0]) and len(there[0]) > len(here[0]):
            prefix = there[0].removesuffix(here[0])
            if {prefix + name for name in here} == set(there):
                return prefix, where
    return None


def _whole(unexpected: list[str]) -> str:
    """A whole checkpoint, not only the weights."""
    names = {"model", "state_dict", "model_state_dict", "model_state", "net", "weights"}
    inside = next((key for key in unexpected if key in names), None)
    return "" if inside is None else f"load the part with the weights: load_state_dict(checkpoint['{inside}'])"
