"""Each step scores a large pool without gradients and trains on its hardest part."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.GroupNorm(3, 12), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(192, 10)
        )

    def forward(self, x):
        return self.layers(x)


def hardest(model, x, y, keep):
    model.eval()
    with torch.no_grad():
        losses = F.cross_entropy(model(x), y, reduction="none")
    model.train()
    return losses.topk(keep).indices


def stem_off(model, active):
    """The first layers rest for a while, as in a warm-up of the head."""
    for p in model.layers[0].parameters():
        p.requires_grad_(active)


def main(steps=160):
    torch.manual_seed(8)
    data = load_digits()
    x = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(data.target)
    model = ConvNet()
    optimizer = torch.optim.AdamW(
        [
            {"params": model.layers[0].parameters(), "lr": 2e-3},
            {"params": model.layers[1].parameters(), "lr": 2e-3, "weight_decay": 0.0},
            {"params": model.layers[-1].parameters(), "lr": 4e-3},
        ]
    )
    stem_off(model, False)
    for step in range(steps):
        if step == 20:
            stem_off(model, True)
        pool = torch.randint(0, 1400, (128,))
        rows = pool[hardest(model, x[pool], y[pool], keep=48)]
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 39:
            model.eval()
            with torch.no_grad():
                accuracy = (model(x[1400:]).argmax(1) == y[1400:]).float().mean()
            model.train()
            print(f"step {step} loss {loss.item():.4f} test {accuracy:.4f}")


if __name__ == "__main__":
    main()
