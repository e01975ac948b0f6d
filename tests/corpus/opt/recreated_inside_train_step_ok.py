import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(1)

class DenoisingAE(nn.Module):
    def __init__(self, d=20, h=10):
        super().__init__()
        self.enc = nn.Linear(d, h); self.dec = nn.Linear(h, d)
    def forward(self, x):
        return self.dec(F.elu(self.enc(x)))

mix = torch.randn(5, 20)
def clean_batch(n=32):
    return torch.tanh(torch.randn(n, 5) @ mix)

model = DenoisingAE()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

def train_step(step):
    x = clean_batch()
    noisy = x + 0.2 * torch.randn_like(x)
    loss = F.mse_loss(model(noisy), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

for step in range(90):
    value = train_step(step)
    if step % 15 == 0:
        print('%3d  %.6f' % (step, value))
