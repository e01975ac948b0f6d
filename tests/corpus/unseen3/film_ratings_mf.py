import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(33)
U, F_ = 60, 50
pu, qi = torch.randn(U, 3), torch.randn(F_, 3)
u = torch.randint(0, U, (3000,))
i = torch.randint(0, F_, (3000,))
r = 3.0 + (pu[u] * qi[i]).sum(1) * 0.6 + 0.1 * torch.randn(3000)


class NeuralMF(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.users = nn.Embedding(U, d)
        self.films = nn.Embedding(F_, d)
        self.mlp = nn.Sequential(nn.Linear(3 * d, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, u, i):
        a, b = self.users(u), self.films(i)
        return self.mlp(torch.cat([a, b, a * b], dim=1))


data = TensorDataset(u, i, r)
train, test = torch.utils.data.random_split(data, [2400, 600])
train_loader = DataLoader(train, batch_size=64, shuffle=True)
model = NeuralMF()
loss_fn = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    total = 0.0
    for ub, ib, rb in train_loader:
        opt.zero_grad()
        loss = loss_fn(model(ub, ib), rb)
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} train mse {total / len(train_loader):.4f}")

with torch.no_grad():
    ub, ib, rb = test[:]
    pred = model(ub, ib).flatten()
    print(f"test rmse {(pred - rb).pow(2).mean().sqrt():.4f}  rating std {rb.std():.4f}")
