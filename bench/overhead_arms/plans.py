"""How long each training of the bench runs. Read by the bench itself, which needs no torch."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CPU", "GPU", "Plan"]


@dataclass(frozen=True)
class Plan:
    """One training: `steps` in a full run, `quick` with --quick; `counted` late steps for the Python calls."""

    name: str
    about: str
    steps: int
    quick: int
    counted: int = 50
    block: int = 0
    """Steps between two readings of the clock; 0: a fiftieth of the run. A GPU is waited for at each."""
    peers: bool = True
    """Whether the peers run it too; they have nothing to say about forwards alone or a single step."""


CPU = (
    Plan("mlp", "MLP of three layers, batch 32, SGD", 10_000, 3_000),
    Plan("loader", "MLP, Adam, batches of 64 from a DataLoader", 2_000, 1_000),
    Plan("mnist", "convnet on 28 x 28 images, batch 16, Adam", 1_000, 250),
    Plan("gpt", "GPT 4 x 128, 8 x 64 tokens, AdamW", 500, 100, counted=10),
    Plan("resnet18", "ResNet-18, 4 images of 64 px, SGD", 200, 24, counted=5),
    Plan("forwards", "8,000 forwards of an MLP under no_grad, no optimizer", 8_000, 8_000, peers=False),
    Plan("layers", "1,000 linear layers, SGD: its first steps", 10, 3, counted=0, peers=False),
)

GPU = (
    Plan("gpt-2x128", "GPT 2 x 128, 8 x 64 tokens, fp32", 0, 0, counted=20, block=20),
    Plan("gpt-6x512", "GPT 6 x 512, 8 x 256 tokens, fp32", 0, 0, counted=20, block=10),
    Plan("gpt-8x768", "GPT 8 x 768, 8 x 512 tokens, bf16", 0, 0, counted=20, block=10),
    Plan("gpt-24x1024", "GPT 24 x 1024, 8 x 1,024 tokens, bf16", 0, 0, counted=20, block=5),
    Plan("resnet50", "ResNet-50, 64 images of 128 px, fp32", 0, 0, counted=20, block=10),
)
"""As many steps as the plain script takes in --seconds; the other arms take the same number."""
