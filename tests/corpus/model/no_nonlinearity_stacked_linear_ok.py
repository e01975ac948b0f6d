import torch
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(0)
X, y = make_moons(n_samples=800, noise=0.1, random_state=42)
X = torch.from_numpy(X).type(torch.float)
y = torch.from_numpy(y).type(torch.float)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)


class MoonModel(nn.Module):
    def __init__(self, hidden_units=32):
        super().__init__()
        self.layer_stack = nn.Sequential(
            nn.Linear(in_features=2, out_features=hidden_units),
            nn.ReLU(),
            nn.Linear(in_features=hidden_units, out_features=hidden_units),
            nn.ReLU(),
            nn.Linear(in_features=hidden_units, out_features=1),
        )

    def forward(self, x):
        return self.layer_stack(x)


model = MoonModel()
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(params=model.parameters(), lr=0.01)

for epoch in range(100):
    model.train()
    y_logits = model(X_train).squeeze()
    loss = loss_fn(y_logits, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    if epoch % 20 == 19:
        model.eval()
        with torch.inference_mode():
            test_logits = model(X_test).squeeze()
            test_loss = loss_fn(test_logits, y_test)
            test_acc = (torch.round(torch.sigmoid(test_logits)) == y_test).float().mean()
        print(f"Epoch: {epoch + 1} | Loss: {loss.item():.5f} | Test loss: {test_loss.item():.5f}, acc: {100 * test_acc.item():.2f}%")
