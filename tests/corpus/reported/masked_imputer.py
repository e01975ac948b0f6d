"""Fill in missing sensor values with a denoising MLP."""
import torch
from torch import nn


def sensors(count, generator):
    base = torch.randn(count, 3, generator=generator)
    mix = torch.tensor([[1.0, 0.5, 0.0, -0.5, 0.2, 0.9],
                        [0.0, 1.0, 0.7, 0.3, -0.8, 0.1],
                        [0.4, 0.0, 1.0, 0.6, 0.5, -0.3]])
    return base @ mix


def build_model():
    return nn.Sequential(
        nn.Linear(12, 48),
        nn.ReLU(),
        nn.Linear(48, 48),
        nn.ReLU(),
        nn.Linear(48, 6),
    )


def imputation_loss(model, values, seen):
    inputs = torch.cat([values * seen, seen.float()], dim=1)
    filled = model(inputs)
    hidden = 1 - seen
    errors = (filled - values) ** 2 * hidden
    return errors.sum() / hidden.sum().clamp(min=1)


def main():
    torch.manual_seed(13)
    generator = torch.Generator().manual_seed(13)
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step in range(201):
        values = sensors(64, generator)
        seen = torch.rand(values.shape, generator=generator) > 0.3
        loss = imputation_loss(model, values, seen)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
