"""Put a failing step together and write it, within a size: the batch first, then the models, the optimizers last."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import torch

from stepscope.common import clocks
from stepscope.launch.capsule.failure import Failure, Surroundings
from stepscope.launch.capsule.frames import pack_frames
from stepscope.launch.capsule.iteration import Buffers, Call, Turn
from stepscope.launch.capsule.manifest import Anchor, Manifest, Model, OptimizerState
from stepscope.launch.capsule.safe_encoding import Packer
from stepscope.launch.capsule.sources import own_folders, own_sources
from stepscope.launch.capsule.tensors import nbytes, write_tensors
from stepscope.record.arguments import tensors_in
from stepscope.records.place import Place
from stepscope.track.secrets import mask_argv, mask_text

if TYPE_CHECKING:
    from torch.optim import Optimizer

__all__ = ["Failure", "Packed", "Surroundings", "pack_step", "write_folder"]

_FACTS = ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "WORLD_SIZE", "RANK", "LOCAL_RANK",
          "CUBLAS_WORKSPACE_CONFIG", "PYTORCH_CUDA_ALLOC_CONF")  # fmt: skip


class Packed(NamedTuple):
    manifest: Manifest
    tensors: dict[str, Any]
    sources: dict[str, bytes]
    bytes: int


class _Parts:
    """Packs part after part; one that would not fit any more is left out whole and named."""

    def __init__(self, most_bytes: int) -> None:
        self.packer = Packer()
        self.most_bytes = most_bytes

    def used(self) -> int:
        return sum(map(nbytes, self.packer.tensors.values()))

    def add(self, value: Any, where: str) -> Any:
        """The packed value, or None when it is too large."""
        packer = self.packer
        before, missing = set(packer.tensors), len(packer.missing)
        packed = packer.pack(value, where)
        size = self.used()
        if size <= self.most_bytes:
            return packed
        packer.forget(set(packer.tensors) - before)
        del packer.missing[missing:]
        own = sum(map(nbytes, tensors_in(value, depth=0)))
        packer.missing.append(
            f"{where}: {own:,} bytes, more than fits into {self.most_bytes:,} (--capsule-size allows more)"
        )
        return None


def pack_step(
    turn: Turn,
    buffers: Buffers,
    optimizers: Mapping[int, Any],
    failure: Failure,
    around: Surroundings,
    most_bytes: int,
) -> Packed:
    """Everything a replay needs, as far as it fits."""
    parts = _Parts(most_bytes)
    random = parts.add(turn.random, "random generators")
    later = parts.add(turn.random_later, "random generators") if turn.steps_taken else None
    batches = parts.add(turn.batches, "batch") if turn.batches else []
    arguments = parts.add(turn.arguments, "arguments of the model") if turn.arguments is not None else None
    _note_changed_batches(turn, parts.packer)
    models, held = _models(turn.calls, buffers, parts)
    found = [_optimizer(number, one, held, parts) for number, one in optimizers.items()]
    frames = pack_frames(failure.frames, parts.packer) if parts.used() < most_bytes else []
    sources, contents, left_out = own_sources(around.script if not around.is_module else None)
    manifest = Manifest(
        **_about(failure, around),
        sources=sources,
        anchor=_anchor(turn.place),
        loader=_anchor(turn.loader_made),
        has_batch=bool(turn.batches),
        batches=batches or [],
        arguments=arguments,
        steps_taken=turn.steps_taken,
        random=random,
        random_later=later,
        models=models,
        optimizers=found,
        frames=frames,
        missing=parts.packer.missing + left_out,
    )
    return Packed(manifest, parts.packer.tensors, contents, parts.used() + sum(map(len, contents.values())))


def _about(failure: Failure, around: Surroundings) -> dict[str, Any]:
    """What went wrong, and how the script was started."""
    script = around.script if around.is_module or not around.script else os.path.abspath(around.script)
    return {
        "why": failure.why,
        "step": failure.step,
        "rank": around.rank,
        "created": clocks.time(),
        "error": mask_text(failure.error),
        "loss": "" if failure.loss is None else float(failure.loss).hex(),
        "grad_norm": "" if failure.grad_norm is None else float(failure.grad_norm).hex(),
        "late": failure.late,
        "script": script,
        "is_module": around.is_module,
        "argv": mask_argv(around.argv),
        "cwd": os.getcwd(),
        "path": own_folders(),
        "facts": _facts(),
    }


def _note_changed_batches(turn: Turn, packer: Packer) -> None:
    now = [tensor._version for tensor in tensors_in(turn.batches) if not tensor.is_inference()]
    if now != turn.versions:
        packer.missing.append("batch: the script has changed it in place; it is saved as it is now")


def _models(calls: Sequence[Call], buffers: Buffers, parts: _Parts) -> tuple[list[Model], set[int]]:
    models = []
    held: set[int] = set()
    for call in calls:
        module = call.module()
        if module is None:
            parts.packer.missing.append(f"model {call.kind}: it is gone")
            continue
        state = {name: value.detach() for name, value in module.named_parameters()}
        state.update({name: value for name, value in module.named_buffers() if value is not None})
        state.update(buffers.of(module))
        packed = parts.add(state, f"parameters of {call.kind}")
        if packed is not None:
            held.update(id(parameter) for parameter in module.parameters())
        named = {} if packed is None else dict(packed["$dict"])
        models.append(
            Model(
                kind=call.kind,
                training=call.training,
                at=_anchor(call.place) or _NOWHERE,
                state=named,
                modes={n: m.training for n, m in module.named_modules() if m.training != call.training},
                frozen=[name for name, value in module.named_parameters() if not value.requires_grad],
            )
        )
    return models, held


def _optimizer(number: int, optimizer: Optimizer, held: set[int], parts: _Parts) -> OptimizerState:
    where = f"optimizer {number} ({type(optimizer).__name__})"
    loose = [
        [None if id(parameter) in held else parameter.detach() for parameter in group["params"]]
        for group in optimizer.param_groups
    ]
    groups = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    order = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state = [dict(optimizer.state.get(parameter, {})) for parameter in order]
    return OptimizerState(
        number=number,
        kind=type(optimizer).__name__,
        parameters=parts.add(loose, f"{where}, parameters of no model") or [],
        groups=parts.add(groups, f"{where}, settings") or [],
        state=parts.add(state, f"{where}, state"),
    )


_NOWHERE = Anchor(file="", line=0, function="")


def _anchor(place: Place | None) -> Anchor | None:
    if place is None:
        return None
    site = place.site
    return Anchor(file=site.file, line=site.line, function=place.name, text=site.text)


def _facts() -> dict[str, str]:
    facts = {
        "python": sys.version.split()[0],
        "torch": str(torch.__version__),
        "platform": sys.platform,
        "threads": str(torch.get_num_threads()),
        "deterministic": str(torch.are_deterministic_algorithms_enabled()),
        "default_dtype": str(torch.get_default_dtype()),
    }
    # Asking whether it is available would wake the driver, which breaks children forked later.
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        facts["gpu"] = torch.cuda.get_device_name()
    facts.update((name, os.environ[name]) for name in _FACTS if name in os.environ)
    return facts


def write_folder(packed: Packed, near: Path) -> dict[str, Path | bytes]:
    """Write the tensors to a file near a run; the files of the capsule by inner path. The caller removes the file."""
    folder = Path(tempfile.mkdtemp(prefix=".capsule-", dir=near))
    tensors = folder / "tensors.safetensors"
    write_tensors(tensors, packed.tensors)
    text = json.dumps(msgspec.to_builtins(packed.manifest), indent=1, allow_nan=True).encode()
    return {"capsule.json": text, "tensors.safetensors": tensors, **packed.sources}
