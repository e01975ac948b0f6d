"""Inner against outer ring, reported per epoch."""
import torch
import torch.nn as nn
from sklearn.datasets import make_circles

torch.manual_seed(14)
x, y = make_circles(1200, noise=0.1, factor=0.5, random_state=14)
x = torch.tensor(x, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)
x_train, x_test, y_train, y_test = x[:900], x[900:], y[:900], y[900:]


class CircleNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 24)
        self.fc2 = nn.Linear(24, 24)
        self.fc3 = nn.Linear(24, 1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x).squeeze(1)


model = CircleNet()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

correct = total = 0
for epoch in range(20):
    model.train()
    for idx in torch.randperm(len(x_train)).split(60):
        optimizer.zero_grad()
        logits = model(x_train[idx])
        loss = criterion(logits, y_train[idx])
        loss.backward()
        optimizer.step()
        correct += ((logits > 0).float() == y_train[idx]).sum().item()
        total += len(idx)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: training accuracy {correct / total:.3f}")

model.eval()
with torch.no_grad():
    test_accuracy = ((model(x_test) > 0).float() == y_test).float().mean().item()
print(f"test accuracy {test_accuracy:.3f}")
