"""Serialized summaries (protocol buffers) passed to a writer: their scalars, texts and hyperparameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope.eventfiles.events import Value, decode_event
from stepscope.eventfiles.plugins import decode_hparams
from stepscope.eventfiles.tensors import Tensor, decode_tensor
from stepscope.eventfiles.wire import put_bytes

if TYPE_CHECKING:
    from stepscope.integrations.tensorboard import SummaryWriter

__all__ = ["log_summary"]


def log_summary(writer: SummaryWriter, data: bytes, step: Any, walltime: float | None) -> None:
    """Log the supported parts of a serialized `Summary`; the run reports the rest as not logged."""
    for value in decode_event(put_bytes(5, data)).values:
        plugin = value.metadata.plugin if value.metadata is not None else ""
        if plugin == "hparams" and value.metadata is not None:
            settings = decode_hparams(value.metadata.content).values
            if settings:
                writer.run.config.update(settings)
        elif value.kind == "scalar":
            writer.add_scalar(value.tag, value.scalar, step, walltime)
        elif value.kind == "tensor":
            _tensor(writer, value, plugin, decode_tensor(value.data), step, walltime)


def _tensor(
    writer: SummaryWriter, value: Value, plugin: str, tensor: Tensor, step: Any, walltime: float | None
) -> None:
    if plugin == "text" and tensor.dtype == object:
        text = b"\n\n".join(tensor.reshape(-1)).decode("utf-8", "backslashreplace")
        writer.add_text(value.tag.removesuffix("/text_summary"), text, step, walltime)
    elif tensor.dtype != object and tensor.size == 1:
        writer.add_scalar(value.tag, float(tensor.reshape(-1)[0]), step, walltime)
    elif tensor.dtype != object:
        writer.add_tensor(value.tag, tensor, step, walltime)
