import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data(seed):
    x, y = make_classification(n_samples=900, n_features=12, n_informative=6, n_classes=3, random_state=seed)
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 48)
        self.out = nn.Linear(48, 3)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def train_epoch(model, loader, optimizer, criterion):
    predictions, targets = [], []
    for x, y in loader:
        optimizer.zero_grad()
        logits = model(x)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        predictions.append(logits.numpy())
        targets.append(y.numpy())
    predictions = np.concatenate(predictions).argmax(axis=1)
    return f1_score(np.concatenate(targets), predictions, average="macro")


def main():
    torch.manual_seed(22)
    loader = DataLoader(data(22), batch_size=60, shuffle=True)
    model = Net()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    for epoch in range(5):
        score = train_epoch(model, loader, optimizer, nn.CrossEntropyLoss())
        print(f"epoch {epoch} train macro f1 {score:.3f}")


if __name__ == "__main__":
    main()
