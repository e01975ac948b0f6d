import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)


def friedman(n):
    x = torch.rand(n, 5)
    y = 10 * torch.sin(3.1416 * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, (y - 14.0) / 5.0


train_loader = DataLoader(TensorDataset(*friedman(320)), batch_size=32, shuffle=True)
val_x, val_y = friedman(100)


def validate(model):
    model.eval()
    with torch.inference_mode():
        return nn.functional.mse_loss(model(val_x).squeeze(1), val_y).item()


model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = ReduceLROnPlateau(optimizer, mode="max", factor=0.3, patience=1)

for epoch in range(10):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
    val_loss = validate(model)
    scheduler.step(val_loss)
    print(f"epoch {epoch} val_loss {val_loss:.5f} lr {optimizer.param_groups[0]['lr']:.2e}")
