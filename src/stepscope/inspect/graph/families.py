"""The kind of work an op does: the default colors of a drawing."""

from __future__ import annotations

from stepscope.inspect.graph.data import GraphBox, GraphData, GraphNode

FAMILIES = ("weights", "attention", "norm", "activation", "pool", "loss", "arithmetic", "shape", "tensor", "group")

_NAMES = {
    "weights": "linear bilinear embedding embedding_bag matmul mm bmm addmm baddbmm einsum tensordot lstm gru rnn_tanh "
    "rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
    "conv_transpose3d convolution mv dot outer",
    "attention": "scaled_dot_product_attention multi_head_attention_forward flex_attention",
    "activation": "relu relu6 gelu silu mish sigmoid tanh softmax log_softmax softplus elu selu celu leaky_relu prelu "
    "hardtanh hardswish hardsigmoid glu logsigmoid dropout dropout1d dropout2d dropout3d alpha_dropout softsign "
    "threshold rrelu gumbel_softmax feature_alpha_dropout",
    "pool": "interpolate upsample pixel_shuffle pixel_unshuffle grid_sample unfold fold",
    "shape": "view reshape transpose permute flatten squeeze unsqueeze expand contiguous split chunk cat stack getitem "
    "t T unbind movedim swapaxes narrow select repeat to clone detach expand_as view_as reshape_as flip roll pad float "
    "half type_as tile repeat_interleave mT gather index_select unflatten ravel concat tensor_split hsplit",
}  # fmt: skip
_OF_NAME = {name: family for family, names in _NAMES.items() for name in names.split()}


def family_of(thing: GraphNode | GraphBox, data: GraphData) -> str:
    """The family of an op; for a small module that of its most important op; `group` for larger ones."""
    if isinstance(thing, GraphNode):
        return _of_op(thing.name) if thing.kind == "op" else "tensor"
    if thing.boxes or thing.ops > 4 or not thing.type:
        return "group"
    inside = data.nodes[thing.first : thing.first + thing.count]
    found = [_of_op(node.name) for node in inside if node.kind == "op"]
    return min(found, key=FAMILIES.index, default="group")


def _of_op(name: str) -> str:
    if len(name) > 1:
        name = name.removesuffix("_")
    if name in _OF_NAME:
        return _OF_NAME[name]
    if "norm" in name and name != "norm":
        return "norm"
    if "pool" in name:
        return "pool"
    if "loss" in name or "cross_entropy" in name or name in ("kl_div", "nll"):
        return "loss"
    return "arithmetic"
