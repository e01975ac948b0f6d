"""Normalizations: four operations per element for mean and variance, two to normalize, two to scale and shift."""

from __future__ import annotations

from stepscope.record.flops.registry import Called, Work, formula

__all__: list[str] = []


def _norm(called: Called, per_element: int) -> Work:
    work = per_element * int(called.first.numel())
    return Work(work, 0, 2 * work)


def _affine(called: Called, place: int) -> int:
    return 2 if called.get(place, "weight") is not None else 0


@formula("layer_norm", "native_layer_norm")
def layer_norm(called: Called) -> Work:
    return _norm(called, 6 + _affine(called, 2))


@formula("group_norm")
def group_norm(called: Called) -> Work:
    return _norm(called, 6 + _affine(called, 2))


@formula("instance_norm")
def instance_norm(called: Called) -> Work:
    return _norm(called, 6 + _affine(called, 3))


@formula("batch_norm")
def batch_norm(called: Called) -> Work:
    """With running statistics (evaluation) mean and variance are there already.

    The functional takes (input, mean, var, weight, bias, training), `torch.batch_norm` the weight before the mean.
    """
    training = called.get(5, "training", False)
    affine = 2 if called.kwargs.get("weight") is not None or any(v is not None for v in called.args[1:5:2]) else 0
    return _norm(called, (6 if training else 2) + affine)


@formula("native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm", "_batch_norm_impl_index")
def native_batch_norm(called: Called) -> Work:
    training = called.get(5, "training", True)
    return _norm(called, (6 if training else 2) + _affine(called, 1))


@formula("rms_norm", "_fused_rms_norm")
def rms_norm(called: Called) -> Work:
    """A square and a sum, a multiplication, and one more for the weight."""
    return _norm(called, 3 + (1 if called.get(2, "weight") is not None else 0))


@formula("normalize", "renorm", "weight_norm", "_weight_norm", "local_response_norm")
def by_length(called: Called) -> Work:
    return _norm(called, 3)


@formula("softmax", "_softmax", "log_softmax", "_log_softmax", "softmin", "gumbel_softmax", "cross_entropy")
def softmax(called: Called) -> Work:
    """Maximum, difference, exponential, sum, division (or difference) for each element."""
    return _norm(called, 5)
