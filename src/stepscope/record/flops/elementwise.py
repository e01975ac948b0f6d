"""One operation per element of the output, however costly the function; a few that hold more than one."""

from stepscope.record.flops.registry import per_output

__all__: list[str] = []

_ARITHMETIC = """
add sub rsub subtract mul multiply div divide true_divide floor_divide reciprocal_mul remainder fmod pow float_power neg
negative abs absolute sign sgn exp exp2 expm1 log log2 log10 log1p sqrt rsqrt square reciprocal sin cos tan asin acos
atan atan2 arcsin arccos arctan arctan2 sinh cosh asinh acosh atanh tanh sigmoid erf erfc erfinv lgamma digamma maximum
minimum fmax fmin clamp clip clamp_min clamp_max floor ceil round trunc frac hypot ldexp logaddexp xlogy sinc logit
heaviside nextafter angle conj_physical
"""
_ACTIVATIONS = """
relu relu6 leaky_relu prelu elu selu celu gelu silu mish softplus softsign hardtanh hardsigmoid hardswish logsigmoid
tanhshrink softshrink hardshrink threshold rrelu dropout dropout1d dropout2d dropout3d native_dropout alpha_dropout
feature_alpha_dropout feature_dropout threshold_backward sigmoid_backward tanh_backward gelu_backward silu_backward
"""
_COMPARISONS = """
eq ne lt le gt ge greater less greater_equal less_equal not_equal isnan isinf isfinite isclose logical_and logical_or
logical_not logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not lshift rshift bitwise_left_shift
bitwise_right_shift
"""

per_output(1, *_ARITHMETIC.split(), *_ACTIVATIONS.split(), *_COMPARISONS.split())
per_output(2, "glu", "polar", "copysign", "nan_to_num")
per_output(3, "addcmul", "addcdiv", "lerp", "cross", "linalg_cross")
