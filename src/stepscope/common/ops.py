"""Families of torch operations, by the names that events, recordings and autograd nodes use for them.

A rule or observer that needs "anything that only moves values around" takes the family from here, so that a new op or
alias in torch is added in one place. Names are those of `torch`, `torch.nn.functional` and `Tensor`.
"""

from __future__ import annotations

__all__ = [
    "ACTIVATIONS", "ARITHMETIC", "BINARY", "CASTS", "COMPARISONS", "CONSTANTS", "CONTRACTIONS", "CONVOLUTIONS",
    "COPIES", "DEVICE_MOVES", "DROPOUTS", "ELEMENTWISE", "FACTORIES", "FLATTENINGS", "FLOAT_CASTS", "FROM_HOST",
    "GAUSSIAN", "INITIALIZERS", "INT_CASTS", "JOINS", "LAYERS", "MASKS", "MATMULS", "NOISE", "NORMALIZATIONS",
    "NORMS", "PICKS", "REDUCTIONS", "RESHAPES", "SELECTIONS", "SOFTMAXES", "TO_HOST", "TRANSPOSES", "VIEWS",
]  # fmt: skip


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FLOAT_CASTS = _names("float double half bfloat16")
INT_CASTS = _names("long int short char byte bool")
DEVICE_MOVES = _names("to cpu cuda xpu")
COPIES = _names("clone contiguous detach detach_ data alias requires_grad_")
"""The same values in the same shape and type, perhaps without their history."""
FROM_HOST = _names("tensor as_tensor from_numpy asarray frombuffer")
"""Ops that create a tensor from a list or an array."""
TO_HOST = _names("numpy item tolist")
CASTS = FLOAT_CASTS | DEVICE_MOVES | COPIES | _names("type type_as to_copy as_tensor tensor")
"""The same values in the same shape, with another dtype, device or history."""

TRANSPOSES = _names("permute transpose transpose_ movedim moveaxis swapaxes swapdims t T mT H mH adjoint")
FLATTENINGS = _names(
    "view reshape view_as reshape_as unsafe_view reshape_alias flatten unflatten ravel squeeze squeeze_"
)
"""Axes merged or split, in memory order."""
RESHAPES = (
    CASTS
    | TRANSPOSES
    | FLATTENINGS
    | _names("unsqueeze unsqueeze_ expand expand_as atleast_1d atleast_2d atleast_3d broadcast_tensors broadcast_to")
)
"""All the values, in another shape or order of axes."""
SELECTIONS = _names("getitem select narrow index_select chunk split unbind masked_select")
"""Some of the values."""
VIEWS = RESHAPES | SELECTIONS
"""The values, or some of them, without computation."""
PICKS = _names("take gather take_along_dim index diagonal diag")
"""Single values, selected one by one."""
JOINS = _names("stack cat concat concatenate hstack vstack dstack column_stack")

REDUCTIONS = _names("mean sum nanmean nansum")
NORMS = _names("norm linalg_norm linalg_vector_norm vector_norm")
BINARY = _names("add add_ sub sub_ subtract mul mul_ div div_ divide true_divide pow")
ARITHMETIC = BINARY | _names("rsub neg square")
ACTIVATIONS = _names(
    "relu relu_ relu6 leaky_relu leaky_relu_ prelu elu selu celu gelu silu mish hardswish hardtanh threshold tanh "
    "sigmoid logsigmoid hardsigmoid softplus softsign"
)
ELEMENTWISE = ARITHMETIC | ACTIVATIONS | _names("abs sqrt exp log log1p clamp clamp_min clamp_max clip minimum maximum")
COMPARISONS = _names("gt ge lt le greater greater_equal less less_equal")
MASKS = _names("masked_fill masked_fill_ where")

SOFTMAXES = _names("softmax log_softmax")
NORMALIZATIONS = _names("batch_norm native_batch_norm layer_norm native_layer_norm group_norm instance_norm")
DROPOUTS = _names("dropout native_dropout dropout1d dropout2d dropout3d feature_dropout alpha_dropout")
CONVOLUTIONS = _names("conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d conv_transpose3d")
MATMULS = _names("linear addmm matmul mm bmm baddbmm einsum")
CONTRACTIONS = MATMULS | CONVOLUTIONS | _names("bilinear scaled_dot_product_attention")
LAYERS = CONTRACTIONS | _names("embedding lstm gru rnn_tanh rnn_relu")

GAUSSIAN = _names("randn randn_like normal normal_")
NOISE = GAUSSIAN | _names("rand rand_like bernoulli bernoulli_")
CONSTANTS = _names("ones zeros full ones_like zeros_like full_like new_ones new_zeros new_full")
FACTORIES = NOISE | CONSTANTS | _names("empty randint randperm arange linspace eye")
INITIALIZERS = _names(
    "zeros_ ones_ constant_ zero_ fill_ normal_ uniform_ xavier_uniform_ xavier_normal_ kaiming_uniform_ "
    "kaiming_normal_ trunc_normal_ orthogonal_ eye_ sparse_ dirac_ copy_"
)
"""Ops that fill a weight in place."""
