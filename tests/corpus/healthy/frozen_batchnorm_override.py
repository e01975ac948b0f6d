"""Fine-tuning with batch norm kept in evaluation mode by the module's own train()."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class FrozenBNBackbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 16, 5, padding=2)
        self.bn = nn.BatchNorm1d(16)
        self.head = nn.Linear(16, 3)
        self.freeze_bn = False

    def train(self, mode=True):
        super().train(mode)
        if self.freeze_bn:
            self.bn.eval()
        return self

    def forward(self, x):
        return self.head(F.relu(self.bn(self.conv(x))).mean(-1))


def waves(n, classes):
    k = torch.randint(0, 3, (n,))
    t = torch.arange(32).float()
    x = torch.sin(t * classes[k].unsqueeze(1) + torch.rand(n, 1) * 6.28)
    return x.unsqueeze(1) + 0.1 * torch.randn(n, 1, 32), k


def fit(model, freqs, steps, tag):
    opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    model.train()
    for step in range(steps):
        x, y = waves(48, freqs)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"{tag} {step} {loss.item():.5f}")


model = FrozenBNBackbone()
fit(model, torch.tensor([0.3, 0.8, 1.5]), 60, "pretrain")
model.freeze_bn = True
model.bn.requires_grad_(False)
fit(model, torch.tensor([0.4, 1.0, 1.9]), 60, "finetune")
