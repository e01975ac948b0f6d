import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(123)
X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=123)
sc = StandardScaler()
X_train = torch.from_numpy(sc.fit_transform(X_train)).float()
X_test = torch.from_numpy(sc.transform(X_test)).float()
y_train = torch.from_numpy(y_train).float().view(-1, 1)
y_test = torch.from_numpy(y_test).float().view(-1, 1)


class TumorNet(nn.Module):
    def __init__(self, n_features):
        super().__init__()
        self.hidden = nn.Linear(n_features, 16)
        self.output = nn.Linear(16, 1)
        self.act = nn.Softmax(dim=1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return self.act(self.output(x))


model = TumorNet(X_train.shape[1])
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(1, 61):
    model.train()
    y_hat = model(X_train)
    loss = criterion(y_hat, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(X_test).round() == y_test).float().mean()
        print(f'epoch {epoch}, loss = {loss.item():.5f}, accuracy = {acc.item():.4f}')
