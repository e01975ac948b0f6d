"""What a kernel's name tells: a name one can read, what sort of work it is, whether it used tensor cores."""

from __future__ import annotations

import re
from functools import lru_cache

_FUNCTOR = re.compile(r"(?:at::native::)?(?:\(anonymous namespace\)::)?(\w+?)(?:_kernel_cuda|_kernel_impl|KernelImpl|"
                      r"CUDAKernelImpl|Functor\w*|_kernel)\b")  # fmt: skip
_PLAIN = {"vectorized_elementwise", "unrolled_elementwise", "elementwise", "reduce", "index_elementwise", "gpu",
          "multi_tensor_apply", "legacy_elementwise", "distribution_elementwise_grid_stride"}  # fmt: skip

# Instruction shapes and families that exist only on tensor cores: 884 (Volta), 1688 and 16816 (Turing, Ampere), GMMA
# and nvjet (Hopper and later), MFMA (AMD). cuBLAS, cuDNN and CUTLASS put them into the names of their kernels.
_TENSOR_CORE = re.compile(
    r"884|1688|16816|16832|hmma|imma|wgmma|gmma|mfma|tensorop|tensor_op|xmma_(?:gemm|fprop|dgrad|wgrad)|^nvjet|"
    r"cutlass_\d+_wmma|flash_(?:fwd|bwd|fprop|bprop)|fmha_cutlass|fmhaforward|^triton_tem_",
    re.I,
)
_NO_TENSOR_CORE = re.compile(r"simt|_sgemm_|_dgemm_|^sgemm|^dgemm|fmha_cutlassF_f32|_ffma|f32f32_f32f32", re.I)

# The first that fits, so the narrow ones come before the wide ones.
_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.I))
    for kind, pattern in (
        ("attention", r"attention|flash_|fmha|sdpa|mha_|dot_do_o|convert_dq"),
        ("optimizer", r"multi_tensor_apply|fused_adam|adamw?_|\bsgd_|split_embedding_backward"),
        ("embedding", r"embedding|embs|jagged|permute_(?:1|2)D|bucketize|bounds_check_indices|indices_weights"),
        ("convolution", r"conv(?!ert)|fprop|dgrad|wgrad|winograd|implicit_gemm|im2col|col2im|nchwtonhwc|nhwctonchw|"
                        r"scudnn|computeOffsets"),
        ("gemm", r"gemm|gemv|nvjet|cutlass|matmul|_mm_|\bdot\b|splitk|triton_tem_|Cijk_|cublas"),
        ("normalisation", r"_norm|norm_|bn_(?:fw|bw)|batchnorm|GammaBeta|welford|RowwiseMoments"),
        ("softmax and loss", r"softmax|nll_loss|cross_entropy|bce|mse_loss"),
        ("gather and scatter", r"gather|scatter|index|take_"),
        ("sort and scan", r"sort|scan|topk|radix|unique|thrust|ReduceByKey|compact"),
        ("random", r"distribution|random|philox|dropout|bernoulli|normal_|uniform"),
        ("copy", r"copy|CatArray|transpose|memcpy|contiguous|fill|memset"),
        ("pooling", r"pool|upsample|interpolate"),
        ("reduction", r"reduc|triton_red_|triton_per_|\bsum|\bmean|amax|argmax"),
        ("elementwise", r"elementwise|pointwise|triton_poi_|activation|gelu|relu|add|mul|Functor"),
        ("compiled", r"^triton_"),
    )
)  # fmt: skip

_ELIGIBLE = re.compile(
    r"^aten::(?:_?mm|addmm|bmm|baddbmm|addbmm|linear|matmul|einsum|_addmm_activation|_scaled_mm|_int_mm|convolution|"
    r"_convolution|conv[123]d|conv_transpose[123]d|cudnn_convolution\w*|miopen_convolution\w*|convolution_backward|"
    r"_scaled_dot_product_\w+|scaled_dot_product_attention|_flash_attention_\w+|_efficient_attention_\w+|"
    r"_cudnn_attention_\w+|lstm|gru|_cudnn_rnn\w*|_thnn_fused\w*)$"
)


def is_collective_name(name: str) -> bool:
    """Whether a kernel communicates between devices, by its name.

    >>> is_collective_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), is_collective_name("gemm")
    (True, False)
    """
    lower = name.lower()
    return (
        lower.startswith(("nccl", "rccl", "oneccl", "mscclkernel")) or "nccldevkernel" in lower or "ncclkernel" in lower
    )


def can_use_tensor_cores(operator: str) -> bool:
    """Whether an operator is of the sort that tensor cores are made for: products of matrices, in one form or another.

    >>> can_use_tensor_cores("aten::addmm"), can_use_tensor_cores("aten::relu")
    (True, False)
    """
    return _ELIGIBLE.match(operator) is not None


@lru_cache(8192)
def is_tensor_core_kernel(name: str) -> bool:
    """Whether a kernel ran on tensor cores, by its name. Kernels people wrote themselves cannot be told.

    >>> is_tensor_core_kernel("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nn")
    True
    >>> is_tensor_core_kernel("ampere_sgemm_32x32_sliced1x4_nn")
    False
    """
    if name.startswith("void at::native::"):  # torch's own kernels; their names are long to search
        return False
    return _TENSOR_CORE.search(name) is not None and _NO_TENSOR_CORE.search(name) is None


@lru_cache(8192)
def kernel_kind(name: str) -> str:
    """What sort of work a kernel does.

    >>> kernel_kind("ampere_sgemm_128x64_nn"), kernel_kind("ncclDevKernel_AllReduce_Sum_f32")
    ('gemm', 'communication')
    """
    if is_collective_name(name):
        return "communication"
    short = short_kernel_name(name)
    return next((kind for kind, pattern in _KINDS if pattern.search(short)), "other")


@lru_cache(8192)
def short_kernel_name(name: str) -> str:
    """A kernel's name without types and arguments, with what it does where the template says so.

    >>> short_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)")
    'vectorized_elementwise: add'
    >>> short_kernel_name("void at::native::(anonymous namespace)::softmax_warp_forward<float, 10>(float*)")
    'softmax_warp_forward'
    """
    head = _without_arguments(name.removeprefix("void "))
    if head.startswith("std::enable_if"):
        head = head.partition(">::type ")[2] or head
    template, _, inside = head.partition("<")
    parts = template.strip().split("::")
    short = parts[-1] or name
    if short.lower() == "kernel":  # the name of what it runs says more
        inner = re.split(r"::(?=\w+$)", inside.partition("<")[0].rstrip("> "))[-1]
        short = inner if re.fullmatch(r"[A-Za-z_]\w{4,}", inner) else "::".join(parts[-2:])
    short = short.removesuffix("_kernel")
    if short in _PLAIN:
        what = _what(inside)
        return f"{short}: {what}" if what else short
    return short


_WRAPPERS = {"gpu", "TensorList", "AUnary", "BUnary", "Binary", "func_wrapper", "nocast", "Unary"}


def _what(inside: str) -> str:
    """What a kernel of the framework applies, from its template arguments: add, copy, gelu ..."""
    named = re.search(r"CUDAFunctor(?:OnSelf|OnOther)?_(\w+)", inside)
    if named:
        return named[1]
    for found in _FUNCTOR.finditer(inside):
        word = found[1].replace("CUDA", "").removesuffix("Impl")
        if word and word not in _WRAPPERS:
            return word
    return ""


def _without_arguments(name: str) -> str:
    """All before the list of arguments: the last opening bracket at no depth that closes at the end."""
    depth, cut = 0, len(name)
    for place in range(len(name) - 1, -1, -1):
        letter = name[place]
        if letter in ")>" and not (letter == ">" and name[place - 1] == "-"):
            depth += 1
        elif letter in "(<":
            depth -= 1
            if depth == 0 and letter == "(":
                cut = place
                break
            if depth == 0:
                return name
    head = name[:cut]
    return name if head.endswith("::") or not head else head
