"""A model's structure, without running it."""

from __future__ import annotations

from typing import Any

from stepscope.records.step import ModuleInfo, Site, StepRecord, TensorInfo


def read_model(model: Any) -> StepRecord:
    """A record with the model's modules, parameters and buffers, and no ops."""
    import torch

    from stepscope.record.structure import describe_model

    modules: list[ModuleInfo] = describe_model(model)
    sites: list[Site] = []
    tensors = _tensors(model)
    return StepRecord(
        model=type(model).__name__,
        torch=str(torch.__version__),
        device=tensors[0].device if tensors else "cpu",
        modules=tuple(modules),
        tensors=tuple(tensors),
        sites=tuple(sites),
    )


def _tensors(model: Any) -> list[TensorInfo]:
    import torch

    names: dict[int, tuple[str, Any, list[str]]] = {}
    for kind, found in (("parameter", model.named_parameters), ("buffer", model.named_buffers)):
        for name, tensor in found(remove_duplicate=False):
            names.setdefault(id(tensor), (kind, tensor, []))[2].append(name)
    infos = []
    for number, (kind, tensor, every) in enumerate(names.values()):
        lazy = torch.nn.parameter.is_lazy(tensor)
        which: Any = kind
        infos.append(
            TensorInfo(
                id=number,
                shape=() if lazy else tuple(tensor.shape),
                dtype=str(tensor.dtype).removeprefix("torch."),
                device=str(tensor.device),
                kind=which,
                name=every[0],
                aliases=tuple(every[1:]),
                requires_grad=bool(tensor.requires_grad),
                storage=number + 1,
                bytes=0 if lazy else int(tensor.nbytes) if tensor.layout is torch.strided else 0,
            )
        )
    return infos
