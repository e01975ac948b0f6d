from __future__ import annotations

import pytest

from stepscope.profile.trace.kernel_names import is_tensor_core_kernel, kernel_kind, short_kernel_name

CUTLASS = (
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(cutlass_80_tensorop_s1688gemm::Params)"
)
GELU = ("void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
        "at::native::GeluType)::{lambda()#2}::operator()() const, std::array<char*, 2ul> >(int, float)")  # fmt: skip
ADAM = "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>(int, int*)"
GEMV = "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, 128>(cublasGemvParams<float>)"


@pytest.mark.parametrize(
    ("name", "short", "kind", "tensor_cores"),
    [
        (CUTLASS, "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4", "gemm", True),
        (GELU, "vectorized_elementwise: Gelu", "elementwise", False),
        (ADAM, "multi_tensor_apply: Adam", "optimizer", False),
        (GEMV, "gemvx::kernel", "gemm", False),
        ("nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT", "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT", "gemm", True),
        ("cutlass_80_simt_sgemm_128x32_8x5_nn_align1", "cutlass_80_simt_sgemm_128x32_8x5_nn_align1", "gemm", False),
        ("void flash_fwd_kernel<Traits<64>, true>(Flash_fwd_params)", "flash_fwd", "attention", True),
        ("void cudnn::bn_fw_tr_1C11_singleread<float, 512>(args<float>)", "bn_fw_tr_1C11_singleread", "normalisation",
         False),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
         "communication", False),
        ("triton_poi_fused_add_relu_0", "triton_poi_fused_add_relu_0", "elementwise", False),
        ("my_own_thing", "my_own_thing", "other", False),
        ("", "", "other", False),
    ],
)  # fmt: skip
def test_a_name_tells_what_a_kernel_is(name: str, short: str, kind: str, tensor_cores: bool) -> None:
    assert (short_kernel_name(name), kernel_kind(name), is_tensor_core_kernel(name)) == (short, kind, tensor_cores)


@pytest.mark.parametrize("name", ["(((", ")", "<>", "a<b", "operator()", "x" * 5000, "void ", "::", "a::(b)::c<d>(e)"])
def test_any_text_is_a_name(name: str) -> None:
    assert isinstance(short_kernel_name(name), str)
    assert kernel_kind(name)
