"""Sums, extremes, norms and losses: a fixed number of operations per element of the input."""

from stepscope.record.flops.registry import per_input

__all__: list[str] = []

_ONE = """
sum nansum mean nanmean prod max min amax amin aminmax argmax argmin all any count_nonzero cumsum cumprod cummax cummin
logcumsumexp trace diff nll_loss nll_loss2d gradient histc bincount
"""

per_input(1, *_ONE.split())
per_input(2, "norm", "linalg_vector_norm", "linalg_norm", "vector_norm", "dist", "linalg_matrix_norm")
per_input(3, "var", "std", "var_mean", "std_mean", "logsumexp", "l1_loss", "mse_loss", "kl_div", "cosine_similarity")
per_input(4, "smooth_l1_loss", "huber_loss", "hinge_embedding_loss", "margin_ranking_loss", "poisson_nll_loss")
per_input(5, "binary_cross_entropy", "gaussian_nll_loss", "soft_margin_loss", "cosine_embedding_loss")
per_input(6, "binary_cross_entropy_with_logits", "triplet_margin_loss")
