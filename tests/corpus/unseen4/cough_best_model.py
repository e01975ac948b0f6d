import copy
import torch
import torch.nn as nn

torch.manual_seed(70)
w = torch.randn(40) * (torch.arange(40) < 4)


def make(n):
    x = torch.randn(n, 40)
    return x, ((x @ w + 1.5 * torch.randn(n)) > 0).float()


x_tr, y_tr = make(150)
x_va, y_va = make(600)
model = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.BCEWithLogitsLoss()


def val_loss():
    model.eval()
    with torch.no_grad():
        return criterion(model(x_va).squeeze(1), y_va).item()


best_loss, best_state, best_epoch = float("inf"), copy.deepcopy(model.state_dict()), -1
for epoch in range(40):
    model.train()
    for idx in torch.randperm(150).split(25):
        optimizer.zero_grad()
        loss = criterion(model(x_tr[idx]).squeeze(1), y_tr[idx])
        loss.backward()
        optimizer.step()
    current = val_loss()
    if current < best_loss:
        best_loss, best_epoch = current, epoch
        best_state = model.state_dict()
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1}: train {loss.item():.4f} val {current:.4f}")

model.load_state_dict(best_state)
print(f"best epoch {best_epoch} val {best_loss:.4f}; restored model val {val_loss():.4f}")
