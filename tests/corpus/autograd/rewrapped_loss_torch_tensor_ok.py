import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(41)
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

X = torch.randn(480, 12)
Y = torch.stack([X[:, :4].sum(1), X[:, 4:8].sum(1), X[:, 8:].sum(1)], 1) / 2 + 0.1 * torch.randn(480, 3)
loader = DataLoader(TensorDataset(X, Y), batch_size=48, shuffle=True)


class MultiOutput(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(32, 1) for _ in range(3))

    def forward(self, x):
        h = self.shared(x)
        return [head(h) for head in self.heads]


model = MultiOutput().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.MSELoss()

for epoch in range(8):
    epoch_loss = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        outputs = model(x)
        losses = [criterion(out, y[:, i:i + 1]) for i, out in enumerate(outputs)]
        loss = torch.stack(losses).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f'epoch {epoch + 1}: {epoch_loss / len(loader):.6f}')
