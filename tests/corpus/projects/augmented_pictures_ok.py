"""Random shifts and noise make more of few pictures."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Augmented(Dataset):
    def __init__(self, images, labels, noise=0.25):
        self.images, self.labels, self.noise = images, labels, noise

    def __len__(self):
        return len(self.images)

    def augment(self, image):
        dy, dx = torch.randint(-1, 2, (2,)).tolist()
        moved = torch.roll(image, (dy, dx), dims=(1, 2))
        return moved + self.noise * torch.randn_like(moved)

    def __getitem__(self, index):
        return self.augment(self.images[index]), self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 16, 10),
        )

    def forward(self, x):
        return self.layers(x)


def train(model, loader, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for images, labels in loader:
            loss = criterion(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        if epoch % 5 == 4:
            print(f"epoch {epoch} loss {total / len(loader.dataset):.4f}")


@torch.no_grad()
def test(model, images, labels):
    model.eval()
    return (model(images).argmax(1) == labels).float().mean().item()


def main():
    torch.manual_seed(77)
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target)
    loader = DataLoader(Augmented(images[:250], labels[:250]), batch_size=25, shuffle=True)
    model = Net()
    train(model, loader, epochs=20)
    print(f"test {test(model, images[800:], labels[800:]):.4f}")


if __name__ == "__main__":
    main()
