import torch
import torch.nn as nn
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split


class IrisNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


torch.manual_seed(0)
X, y = load_iris(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
X_train, X_test = torch.tensor(X_train).float(), torch.tensor(X_test).float()
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

model = IrisNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(60):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(X_train), y_train)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 19:
        print(f"epoch {epoch + 1} loss {loss.item():.5f}")

torch.save(model.state_dict(), "iris.pt")

trained = IrisNet()
trained.load_state_dict(torch.load("iris.pt"))
trained.eval()
with torch.no_grad():
    accuracy = (trained(X_test).argmax(1) == y_test).float().mean()
print(f"test accuracy {accuracy.item():.4f}")
