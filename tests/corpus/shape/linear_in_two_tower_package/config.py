from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    n_queries: int = 60
    n_docs: int = 90
    embed_dim: int = 24
    text_dim: int = 12
    tower_dim: int = 16
    batch_size: int = 64
    epochs: int = 6
    lr: float = 3e-3
    seed: int = 21
