import copy
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class EarlyStopping:
    def __init__(self, patience=3):
        self.patience = patience
        self.best = None
        self.counter = 0
        self.best_state = None
        self.stop = False

    def __call__(self, val_loss, model):
        if self.best is None or val_loss > self.best:
            self.best = val_loss
            self.best_state = copy.deepcopy(model.state_dict())
            self.counter = 0
        else:
            self.counter += 1
            self.stop = self.counter >= self.patience


def toy(n):
    x = torch.randn(n, 8)
    return x, (x[:, :4].prod(1) * 2 + x[:, 4:].sum(1)).unsqueeze(1)


train_loader = DataLoader(TensorDataset(*toy(256)), batch_size=32, shuffle=True)
x_val, y_val = toy(128)
model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 1))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
stopper = EarlyStopping(patience=4)

for epoch in range(15):
    model.train()
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        val_loss = nn.functional.mse_loss(model(x_val), y_val).item()
    print(f"epoch {epoch:2d} val_loss {val_loss:.5f}")
    stopper(val_loss, model)
    if stopper.stop:
        print("stopping early")
        break

model.load_state_dict(stopper.best_state)
model.eval()
with torch.no_grad():
    print(f"restored val_loss {nn.functional.mse_loss(model(x_val), y_val).item():.5f}")
