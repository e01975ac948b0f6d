import torch
from torch import nn


def planes(count, generator):
    x = torch.randn(count, 10, generator=generator)
    y = (x[:, :3].prod(dim=1) > 0).long()
    return x, y


def gradient_norm(parameters):
    return torch.stack([p.grad.norm() for p in parameters]).norm().item()


def train(model, generator, steps=150):
    norms = []
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    criterion = nn.CrossEntropyLoss()
    for step in range(steps):
        x, y = planes(128, generator)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        weights = list(p for name, p in model.named_parameters() if name.endswith("weight"))
        norm = gradient_norm(weights)
        norms.append(norm)
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.3f} norm {norm:.3f}")
    return norms


def summary(model, norms):
    sizes = list(p.numel() for p in model.parameters())
    print(f"{len(sizes)} tensors, {sum(sizes)} weights, mean norm {sum(norms) / len(norms):.3f}")


def main():
    torch.manual_seed(25)
    generator = torch.Generator().manual_seed(25)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    norms = train(model, generator)
    summary(model, norms)


if __name__ == "__main__":
    main()
