from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    epochs: int = 12
    batch_size: int = 48
    lr: float = 0.08
    lr_step: int = 4
    lr_gamma: float = 0.1
    seed: int = 21
