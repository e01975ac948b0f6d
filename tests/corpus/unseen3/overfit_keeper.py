import copy
import torch
import torch.nn as nn

torch.manual_seed(3)
w_true = torch.zeros(60)
w_true[:4] = torch.tensor([1.5, -2.0, 1.0, 1.0])


def draw(n):
    x = torch.randn(n, 60)
    return x, (x @ w_true + 1.2 * torch.randn(n) > 0).float()


x_tr, y_tr = draw(80)
x_va, y_va = draw(400)
model = nn.Sequential(nn.Linear(60, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss()


def evaluate():
    model.eval()
    with torch.no_grad():
        value = bce(model(x_va).squeeze(1), y_va).item()
    model.train()
    return value


best_val, best_state, best_epoch = float("inf"), None, -1
for epoch in range(120):
    opt.zero_grad()
    loss = bce(model(x_tr).squeeze(1), y_tr)
    loss.backward()
    opt.step()
    val = evaluate()
    if val < best_val:
        best_val, best_epoch = val, epoch
        best_state = model.state_dict()
    if epoch % 20 == 0:
        print(f"epoch {epoch} train {loss.item():.4f} val {val:.4f}")

print(f"best epoch {best_epoch} with val {best_val:.4f}")
model.load_state_dict(best_state)
print(f"val loss of the restored model {evaluate():.4f}")
