import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(16)
x = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16
x = x[torch.randperm(len(x))]
train, test = x[:1500], x[1500:]
noise_test = 0.4 * torch.randn_like(test)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(16, 1, 3, padding=1))

    def forward(self, x):
        return x - self.net(x)


model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(5):
    for idx in torch.randperm(len(train)).split(50):
        clean = train[idx]
        noisy = clean + 0.4 * torch.randn_like(clean)
        loss = nn.functional.mse_loss(model(noisy), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        before = noise_test.pow(2).mean().item()
        after = nn.functional.mse_loss(model(test + noise_test), test).item()
    print(f"epoch {epoch} train {loss.item():.4f} noisy mse {before:.4f} denoised mse {after:.4f}")
