import torch
from torch import nn

torch.manual_seed(0)


class GRUClassifier(nn.Module):
    def __init__(self, n_feat, hidden, n_class):
        super().__init__()
        self.hidden = hidden
        self.gru = nn.GRU(n_feat, hidden)
        self.out = nn.Linear(hidden, n_class)

    def forward(self, x):
        # x: batch, time, feature
        h0 = x.new_zeros(1, x.shape[0], self.hidden)
        y, h = self.gru(x, h0)
        return self.out(y[:, -1, :])


def gestures(n, steps=18):
    """Walks in the plane; the class is the quadrant they end in."""
    drift = torch.randn(n, 1, 2)
    path = (drift * 0.15 + 0.1 * torch.randn(n, steps, 2)).cumsum(1)
    label = (drift[:, 0, 0] > 0).long() * 2 + (drift[:, 0, 1] > 0).long()
    return path, label


train_x, train_y = gestures(320)
test_x, test_y = gestures(100)
model = GRUClassifier(2, 20, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    model.train()
    perm = torch.randperm(len(train_x))
    epoch_loss = 0.0
    for idx in perm.chunk(8):
        logits = model(train_x[idx])
        loss = criterion(logits, train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() / 8
    print(f"epoch={epoch} loss={epoch_loss:.6f}")

model.eval()
with torch.no_grad():
    acc = (model(test_x).argmax(1) == test_y).float().mean()
print(f"test accuracy {acc:.3f}")
