"""What devices can compute at most, as their makers publish it: dense products, without structured sparsity.

Sources: NVIDIA's datasheets of V100, T4, A100, A30, A10, A40, L4, L40, L40S, H100, H200, H20 and HGX B200; its Ada and
Ampere GA102 architecture whitepapers for the RTX cards (products with accumulation in float32); AMD's data sheets of
Instinct MI250X (for one of its two dies, which torch sees as a device) and MI300X. Where a datasheet gives figures
"with sparsity", they are halved.
"""

from __future__ import annotations

import re

T = 1e12


def _peaks(
    half: float, tf32: float | None, float32: float, float64: float, float8: float | None = None
) -> dict[str, float]:
    found = {"float16": half, "bfloat16": half, "float32": float32, "float64": float64}
    if tf32 is not None:
        found["tf32"] = tf32
    if float8 is not None:
        found["float8"] = float8
        found["int8"] = float8
    return {dtype: value * T for dtype, value in found.items()}


def _without_bfloat16(half: float, float32: float, float64: float) -> dict[str, float]:
    return {"float16": half * T, "float32": float32 * T, "float64": float64 * T}


# The first that fits the device's name.
_TABLE: tuple[tuple[str, dict[str, float]], ...] = (
    (r"\bB200\b|\bGB200\b", _peaks(2250, 1125, 75, 37, 4500)),
    (r"\bH200 NVL\b|\bH100 NVL\b", _peaks(835, 417, 60, 30, 1671)),
    (r"\bH100 PCIe\b", _peaks(756, 378, 51, 26, 1513)),
    (r"\bH[12]00\b|\bGH200\b|\bH800\b", _peaks(989.4, 494.7, 66.9, 33.5, 1978.9)),
    (r"\bH20\b", _peaks(148, 74, 44, 1, 296)),
    (r"\b[AG]?A[18]00\b", _peaks(312, 156, 19.5, 9.7)),
    (r"\bA30\b", _peaks(165, 82, 10.3, 5.2)),
    (r"\bA10\b", _peaks(125, 62.5, 31.2, 0.49)),
    (r"\bA40\b", _peaks(149.7, 74.8, 37.4, 0.58)),
    (r"\bRTX A6000\b", _peaks(154.8, 77.4, 38.7, 0.6)),
    (r"\bRTX 6000 Ada\b", _peaks(364.2, 182.1, 91.1, 1.4, 728.5)),
    (r"\bL40S\b", _peaks(362.05, 183, 91.6, 1.4, 733)),
    (r"\bL40\b", _peaks(181.05, 90.5, 90.5, 1.4, 362)),
    (r"\bL4\b", _peaks(121, 60, 30.3, 0.47, 242.5)),
    (r"\bRTX 4090\b(?! [DL])", _peaks(165.2, 82.6, 82.6, 1.29, 330.3)),
    (r"\bRTX 3090\b(?! Ti)", _peaks(71, 35.6, 35.6, 0.56)),
    (r"\bV100-SXM", _without_bfloat16(125, 15.7, 7.8)),
    (r"\bV100-PCIE", _without_bfloat16(112, 14, 7)),
    (r"\bT4\b", _without_bfloat16(65, 8.1, 0.25)),
    (r"\bMI3[02][05]X\b", _peaks(1307.4, 653.7, 163.4, 81.7, 2614.9)),
    (r"\bMI250X\b", _peaks(191.5, None, 23.9, 23.9)),
)


def peak_flops(device: str, dtype: str) -> float | None:
    """Floating-point operations a second at most, or None for a device or a dtype that is not in the table.

    >>> peak_flops("NVIDIA A100-SXM4-80GB", "bfloat16"), peak_flops("NVIDIA H200", "float8_e4m3fn")
    (312000000000000.0, 1978900000000000.0)
    """
    dtype = "float8" if dtype.startswith("float8") else dtype
    return next((peaks.get(dtype) for pattern, peaks in _TABLE if re.search(pattern, device)), None)
