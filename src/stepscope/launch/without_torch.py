"""Scripts that train without PyTorch, or not at all: what is recorded of them, and which checks they cannot have."""

from __future__ import annotations

import sys

_FRAMEWORKS = (
    ("tensorflow", "TensorFlow"),
    ("jax", "JAX"),
    ("mlx", "MLX"),
    ("xgboost", "XGBoost"),
    ("lightgbm", "LightGBM"),
    ("catboost", "CatBoost"),
    ("sklearn", "scikit-learn"),
)


def framework() -> str | None:
    """What the script has loaded to learn with, besides PyTorch; by name, nothing is imported."""
    keras = sys.modules.get("keras")
    backend = getattr(getattr(keras, "config", None), "backend", None)
    if callable(backend) and backend() != "tensorflow":  # which brings Keras along, used or not
        return f"Keras on {dict(_FRAMEWORKS).get(backend(), backend())}"
    return next((name for module, name in _FRAMEWORKS if module in sys.modules), None)


def needs_torch(script: str, steps: int) -> str | None:
    """Why nothing of the training could be watched, in words; None where PyTorch made steps, or might have."""
    if steps or "torch" in sys.modules:
        return None
    found = framework()
    return f"{script} trains with {found}, not with PyTorch" if found else f"{script} does not use PyTorch"
