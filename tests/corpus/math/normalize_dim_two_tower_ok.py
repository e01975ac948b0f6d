import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


class Tower(nn.Module):
    def __init__(self, d_in, d_out=16):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(d_in, 48), nn.ReLU(), nn.Linear(48, d_out))

    def forward(self, x):
        z = self.mlp(x)
        return F.normalize(z, dim=1)


class PairModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = Tower(30), Tower(20)
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        return self.log_scale.exp() * self.image(image) @ self.text(text).t()


def make_pairs(n, mix_a, mix_b):
    shared = torch.randn(n, 6)
    a = shared @ mix_a + 0.1 * torch.randn(n, 30)
    b = shared @ mix_b + 0.1 * torch.randn(n, 20)
    return a.to(device), b.to(device)


def clip_loss(logits):
    labels = torch.arange(logits.size(0), device=logits.device)
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


mix_a, mix_b = torch.randn(6, 30) * 0.4, torch.randn(6, 20) * 0.4
image, text = make_pairs(400, mix_a, mix_b)
val_image, val_text = make_pairs(64, mix_a, mix_b)
model = PairModel().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)

for epoch in range(8):
    model.train()
    for idx in torch.randperm(400, device=device).split(50):
        loss = clip_loss(model(image[idx], text[idx]))
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        logits = model(val_image, val_text)
        top1 = (logits.argmax(1) == torch.arange(64, device=device)).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.5f} retrieval {top1:.4f}")
