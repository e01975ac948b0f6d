"""Predict the tags of a document from its word counts."""
import torch
from sklearn.datasets import make_multilabel_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TAGS = 6


class Tagger(nn.Module):
    def __init__(self, words, hidden=48):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(words, hidden), nn.ReLU(), nn.Linear(hidden, TAGS))

    def forward(self, x):
        return torch.softmax(self.layers(x), dim=1)


def documents():
    x, y = make_multilabel_classification(n_samples=1200, n_features=40, n_classes=TAGS, n_labels=3, random_state=86)
    x = torch.tensor(x, dtype=torch.float32)
    x = x / x.sum(dim=1, keepdim=True).clamp(min=1) * 10
    y = torch.tensor(y, dtype=torch.float32)
    return (x[:900], y[:900]), (x[900:], y[900:])


def micro_f1(predicted, target):
    both = (predicted * target).sum()
    return (2 * both / (predicted.sum() + target.sum()).clamp(min=1)).item()


def main():
    torch.manual_seed(86)
    train, test = documents()
    loader = DataLoader(TensorDataset(*train), batch_size=45, shuffle=True)
    model = Tagger(40)
    criterion = nn.BCELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(10):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            predicted = (model(test[0]) > 0.5).float()
        print(f"epoch {epoch} loss {loss.item():.4f} micro f1 {micro_f1(predicted, test[1]):.3f}")


if __name__ == "__main__":
    main()
