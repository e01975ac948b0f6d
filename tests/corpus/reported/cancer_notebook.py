# %%
import torch
from torch import nn
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

torch.manual_seed(42)
x, y = load_breast_cancer(return_X_y=True)
order = torch.randperm(len(x)).numpy()
x, y = x[order], y[order]
scaler = StandardScaler().fit(x[:400])
x_train = torch.tensor(scaler.transform(x[:400]), dtype=torch.float32)
x_test = torch.tensor(scaler.transform(x[400:]), dtype=torch.float32)
y_train = torch.tensor(y[:400], dtype=torch.float32)
y_test = torch.tensor(y[400:], dtype=torch.float32)

# %%
model = nn.Sequential(
    nn.Linear(30, 32),
    nn.ReLU(),
    nn.Dropout(0.6),
    nn.Linear(32, 16),
    nn.ReLU(),
    nn.Dropout(0.6),
    nn.Linear(16, 1),
    nn.Flatten(0),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

# %%
for epoch in range(30):
    model.train()
    for idx in torch.randperm(400).split(40):
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        print("epoch", epoch + 1, "loss", round(loss.item(), 4))

# %%
model.eval
with torch.no_grad():
    logits = model(x_test)
test_loss = criterion(logits, y_test).item()
accuracy = ((logits > 0).float() == y_test).float().mean().item()
print(f"test loss {test_loss:.4f} accuracy {accuracy:.3f}")
