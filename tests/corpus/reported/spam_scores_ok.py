import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(54)


class SpamModel(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(words, 32),
            nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, counts):
        return self.layers(counts)


def main():
    x, y = make_classification(n_samples=800, n_features=25, n_informative=10, random_state=54)
    data = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))
    train_set, test_set = random_split(data, [0.8, 0.2], generator=torch.Generator().manual_seed(54))
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    model = SpamModel(25)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            x, y = test_set[:]
            accuracy = ((model(x).squeeze(1) > 0).float() == y).float().mean().item()
        print(f"epoch {epoch} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
