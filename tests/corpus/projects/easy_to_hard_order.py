"""A curriculum: batches go from easy to hard within an epoch, on purpose."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Curriculum(Sampler):
    """Orders samples by difficulty, with a random order among neighbors."""

    def __init__(self, difficulty, window=512):
        self.difficulty, self.window = difficulty, window

    def __len__(self):
        return len(self.difficulty)

    def __iter__(self):
        order = self.difficulty.argsort()
        for part in order.split(self.window):
            yield from part[torch.randperm(len(part))].tolist()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def difficulty_of(model, x, y):
    return F.cross_entropy(model(x), y, reduction="none")


def main(epochs=6):
    torch.manual_seed(4)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train = TensorDataset(x[:1408], y[:1408])
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    difficulty = (x[:1408] - x[:1408].mean(0)).pow(2).sum(1)
    for epoch in range(epochs):
        loader = DataLoader(train, batch_size=64, sampler=Curriculum(difficulty))
        losses = []
        for inputs, targets in loader:
            loss = F.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        difficulty = difficulty_of(model, *train.tensors)
        with torch.no_grad():
            accuracy = (model(x[1408:]).argmax(1) == y[1408:]).float().mean()
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} test {accuracy:.4f}")


if __name__ == "__main__":
    main()
