"""Activation maximisation: the network is frozen and only the input image is optimised."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(97)
d = load_digits()
x = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16
y = torch.tensor(d.target)
net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(12 * 16, 10),
)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    net.train()
    for idx in torch.randperm(1400).split(70):
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"classifier epoch {epoch} loss {loss.item():.4f}")

net.eval()
for p in net.parameters():
    p.requires_grad_(False)


def total_variation(img):
    return (img[..., 1:, :] - img[..., :-1, :]).abs().mean() + (img[..., 1:] - img[..., :-1]).abs().mean()


pixels = torch.zeros(10, 1, 8, 8, requires_grad=True)
dream_opt = torch.optim.Adam([pixels], lr=0.1)
wanted = torch.arange(10)
for step in range(80):
    image = torch.sigmoid(pixels)
    logits = net(image)
    objective = -logits[torch.arange(10), wanted].sum() + 5.0 * total_variation(image)
    dream_opt.zero_grad()
    objective.backward()
    dream_opt.step()
    if step % 20 == 0:
        print(f"dream step {step} objective {objective.item():+.3f}")
with torch.no_grad():
    print("dreams recognised", (net(torch.sigmoid(pixels)).argmax(1) == wanted).float().mean().item())
