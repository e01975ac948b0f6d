import torch
import torch.nn as nn
import torch.nn.functional as F


class Projector(nn.Module):
    def __init__(self, n_in=20, n_out=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, n_out))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class InfoNCE(nn.Module):
    def __init__(self, temperature=0.01):
        super().__init__()
        self.temperature = temperature

    def forward(self, query, key):
        sim = query @ key.t() / self.temperature
        positive = torch.diagonal(sim)
        normaliser = torch.log(torch.exp(sim).sum(dim=1))
        return (normaliser - positive).mean()


def jitter(x):
    return x + 0.6 * torch.randn_like(x)


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    samples = torch.randn(512, 20, device=device)
    encoder = Projector().to(device)
    criterion = InfoNCE()
    optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
    for epoch in range(6):
        total, steps = 0.0, 0
        for batch in samples[torch.randperm(512, device=device)].split(64):
            loss = criterion(encoder(jitter(batch)), encoder(jitter(batch)))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            steps += 1
        print(f"epoch {epoch} contrastive loss {total / steps:.5f}")


if __name__ == "__main__":
    main()
