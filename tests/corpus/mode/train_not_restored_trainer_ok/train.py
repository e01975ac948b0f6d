import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from trainer import Trainer


def energy(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 6, generator=g) * 2 - 1
    y = (x[:, 0] * x[:, 1] + x[:, 2].abs() - 0.5 * x[:, 3:].pow(2).sum(1)).unsqueeze(1)
    return TensorDataset(x, y)


class MLP(nn.Module):
    def __init__(self, d_in, width=64, depth=2, p=0.3):
        super().__init__()
        layers = []
        for i in range(depth):
            layers += [nn.Linear(d_in if i == 0 else width, width), nn.LayerNorm(width), nn.ReLU(), nn.Dropout(p)]
        self.body = nn.Sequential(*layers)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.body(x))


if __name__ == "__main__":
    torch.manual_seed(0)
    model = MLP(6)
    trainer = Trainer(model, torch.optim.Adam(model.parameters(), lr=3e-3), nn.HuberLoss())
    trainer.fit(DataLoader(energy(320, 0), batch_size=32, shuffle=True), DataLoader(energy(80, 1), batch_size=80), epochs=9)
