import torch
from torch import nn
import torch.nn.functional as F


class AmpTrainer:
    def __init__(self, model, lr=1e-3):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = model.to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler(self.device.type)

    def training_step(self, batch):
        x, y = (t.to(self.device) for t in batch)
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()

    def fit(self, batches):
        for i, batch in enumerate(batches, start=1):
            loss = self.training_step(batch)
            if i % 20 == 0:
                print(f"step {i}: {loss:.6f}")


def batches(n, gen):
    for _ in range(n):
        x = torch.rand(64, 3, generator=gen) * 2 - 1
        yield x, (x[:, :1] * x[:, 1:2] + x[:, 2:])


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
AmpTrainer(net, lr=5e-3).fit(batches(100, torch.Generator().manual_seed(0)))
