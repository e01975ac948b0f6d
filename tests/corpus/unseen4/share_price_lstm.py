import numpy as np
import torch
import torch.nn as nn

np.random.seed(55)
torch.manual_seed(55)

returns = np.random.standard_t(4, size=1500) * 0.01
returns = (returns / returns.std()).astype(np.float32)
LOOKBACK = 16


def create_dataset(data, lookback):
    xs, ys = [], []
    for i in range(len(data) - lookback - 1):
        xs.append(data[i:i + lookback + 1])
        ys.append(data[i + lookback])
    return torch.tensor(np.array(xs)).unsqueeze(-1), torch.tensor(np.array(ys)).unsqueeze(-1)


split = 1200
X_train, y_train = create_dataset(returns[:split], LOOKBACK)
X_test, y_test = create_dataset(returns[split:], LOOKBACK)


class ReturnLSTM(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1])


model = ReturnLSTM()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    model.train()
    for idx in torch.randperm(len(X_train)).split(64):
        optimizer.zero_grad()
        loss = criterion(model(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        pred = model(X_test)
        test = criterion(pred, y_test).item()
    print(f"Epoch {epoch} train loss {loss.item():.4f} test loss {test:.4f}")
direction = ((pred > 0) == (y_test > 0)).float().mean().item()
print(f"directional accuracy: {direction:.3f}")
