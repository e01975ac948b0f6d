"""Pretrain an encoder as part of an autoencoder, then reuse it with few labels."""
import io

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def encoder():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 24), nn.ReLU())


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = encoder()
        self.decoder = nn.Linear(24, 64)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def pretrain(x):
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(12):
        for part in x[torch.randperm(len(x))].split(64):
            loss = F.mse_loss(model(part), part)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"pretraining loss {loss.item():.4f}")
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    return buffer


def load_encoder(buffer):
    body = encoder()
    state = torch.load(buffer, weights_only=True)
    prefix = "encoder."
    body.load_state_dict({k[len(prefix) :]: v for k, v in state.items() if k.startswith(prefix)})
    return body


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    body = load_encoder(pretrain(x[:1200]))
    for p in body.parameters():
        p.requires_grad_(False)
    head = nn.Linear(24, 10)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.02)
    for step in range(200):
        loss = F.cross_entropy(head(body(x[:200])), y[:200])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (head(body(x[1200:])).argmax(1) == y[1200:]).float().mean().item()
    print(f"fine-tuning loss {loss.item():.3f} test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
