"""Captioning-like toy: conv encoder + recurrent decoder spelling out the digit's name."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
LETTERS = sorted(set("".join(WORDS)))
BOS, EOS = len(LETTERS), len(LETTERS) + 1
V, L = len(LETTERS) + 2, 6


def spell(digit):
    ids = [LETTERS.index(c) for c in WORDS[digit]] + [EOS]
    return ids + [-100] * (L - len(ids))


class Speller(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(128, d), nn.Tanh())
        self.embed = nn.Embedding(V, d)
        self.decoder = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, V)

    def forward(self, image, prefix):
        h0 = self.encoder(image)
        out, _ = self.decoder(self.embed(prefix), h0.unsqueeze(0))
        return self.out(out)


torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)[:600] / 16
targets = torch.tensor([spell(t) for t in digits.target[:600]])
prefixes = torch.cat([torch.full((600, 1), BOS), targets[:, :-1].clamp_min(0)], dim=1)

model = Speller()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
for epoch in range(5):
    model.train()
    tot = 0.0
    for idx in torch.randperm(600).split(50):
        logits = model(images[idx], prefixes[idx])
        loss = F.cross_entropy(logits.flatten(0, 1), targets[idx].flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tot += loss.item()
    print(f"epoch {epoch}: nll {tot / 12:.5f}")
