"""Ops that compute nothing: views, copies, casts, gathers, embeddings, factories, random numbers."""

from __future__ import annotations

from stepscope.record.flops.registry import Called, Work, formula

__all__: list[str] = []

_VIEWS = """
view view_as reshape reshape_as _reshape_alias _unsafe_view unsafe_view t T mT H mH transpose swapaxes swapdims permute
movedim moveaxis squeeze unsqueeze expand expand_as broadcast_to broadcast_tensors flatten unflatten ravel select narrow
slice split split_with_sizes chunk unsafe_chunk unsafe_split tensor_split hsplit vsplit dsplit unbind unfold as_strided
diagonal real imag view_as_real view_as_complex resolve_conj resolve_neg conj alias detach data values indices
contiguous positive lift_fresh atleast_1d atleast_2d atleast_3d pixel_shuffle pixel_unshuffle swap channel_shuffle
"""
_COPIES = """
clone copy to type type_as float double half bfloat16 int long short bool byte char cpu cuda pin_memory _to_copy cat
concat concatenate stack hstack vstack dstack column_stack block_diag repeat repeat_interleave tile roll flip fliplr
flipud rot90 pad constant_pad_nd index_copy index_put masked_fill masked_scatter masked_select where fill zero
fill_diagonal tril triu diag diag_embed combinations cartesian_prod meshgrid set complex requires_grad setitem getitem
index index_select gather take take_along_dim scatter select_scatter slice_scatter index_fill nonzero argwhere put
one_hot sparse_coo_tensor to_dense to_sparse coalesce resize resize_as dequantize pack_padded_sequence
pad_packed_sequence _pack_padded_sequence _pad_packed_sequence im2col col2im fold nan_to_num_copy zero_grad share_memory
item tolist numpy equal backward
"""
_FACTORIES = """
empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like new_ones full
full_like new_full tensor as_tensor new_tensor from_numpy asarray arange linspace logspace eye scalar_tensor rand
rand_like randn randn_like randint randint_like randperm normal uniform bernoulli multinomial exponential geometric
log_normal cauchy random
"""


@formula(*_VIEWS.split(), *_COPIES.split(), *_FACTORIES.split())
def nothing(called: Called) -> Work:
    return Work(0, 0, 0)


@formula("embedding")
def embedding(called: Called) -> Work:
    """A lookup; its backward adds each looked-up row once."""
    weight = called.get(1, "weight")
    return Work(0, 0, int(called.out.numel()) if getattr(weight, "requires_grad", False) else 0)


@formula("embedding_bag")
def embedding_bag(called: Called) -> Work:
    """The rows of each bag are added up."""
    rows, weight = called.get(0, "input"), called.get(1, "weight")
    if rows.is_floating_point():  # torch.embedding_bag takes the weight first
        rows, weight = weight, rows
    work = int(rows.numel() * weight.shape[-1])
    return Work(work, 0, work)


@formula("scatter_add", "index_add", "scatter_reduce", "index_reduce")
def add_at(called: Called) -> Work:
    source = called.get(3, "src", called.kwargs.get("source"))
    work = int(source.numel()) if source is not None else 0
    return Work(work, 0, 0)
