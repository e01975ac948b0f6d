import torch
from sklearn.datasets import make_blobs
from torch import nn
from torch.utils.data import DataLoader, Dataset


class FilteredPoints(Dataset):
    def __init__(self, points, labels, quality, minimum):
        keep = quality >= minimum
        self.points, self.labels = points[keep], labels[keep]

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.points[index], self.labels[index]


def make_data():
    x, y = make_blobs(n_samples=600, centers=4, cluster_std=1.5, random_state=40)
    generator = torch.Generator().manual_seed(40)
    quality = torch.rand(600, generator=generator)
    return torch.tensor(x, dtype=torch.float32) / 10, torch.tensor(y), quality


def main():
    torch.manual_seed(40)
    points, labels, quality = make_data()
    dataset = FilteredPoints(points, labels, quality, minimum=0.1)
    loader = DataLoader(dataset, batch_size=50, shuffle=True)
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 4))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(8):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    main()
