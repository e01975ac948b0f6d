import os
import tempfile
from dataclasses import dataclass, asdict
import torch
import torch.nn as nn


@dataclass
class PhonemeConfig:
    n_mels: int = 16
    hidden: int = 32
    n_phonemes: int = 8


class PhonemeNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(cfg.n_mels, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.n_phonemes))

    def forward(self, mel):
        return self.net(mel)


def save(path, model, cfg, epoch):
    torch.save({"config": cfg, "model": model.state_dict(), "epoch": epoch}, path)


def load(path):
    ckpt = torch.load(path)
    cfg = ckpt["config"]
    model = PhonemeNet(cfg)
    model.load_state_dict(ckpt["model"])
    return model, cfg, ckpt["epoch"]


torch.manual_seed(0)
cfg = PhonemeConfig()
codebook = torch.randn(cfg.n_phonemes, cfg.n_mels)
model = PhonemeNet(cfg)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for _ in range(20):
        y = torch.randint(0, cfg.n_phonemes, (64,))
        loss = nn.functional.cross_entropy(model(codebook[y] + 0.7 * torch.randn(64, cfg.n_mels)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")

path = os.path.join(tempfile.mkdtemp(), "phonemes.pt")
save(path, model, cfg, epoch)
restored, cfg, last_epoch = load(path)
y = torch.randint(0, cfg.n_phonemes, (500,))
with torch.no_grad():
    acc = (restored(codebook[y] + 0.7 * torch.randn(500, cfg.n_mels)).argmax(1) == y).float().mean()
print(f"restored from epoch {last_epoch}, accuracy {acc:.3f}")
