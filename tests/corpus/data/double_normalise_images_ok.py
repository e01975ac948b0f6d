import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

BATCH = 64


def load_images():
    """Pictures as bytes, blown up to 0..255, then to floats between 0 and 1."""
    raw = load_digits()
    images = np.clip(raw.images * 16, 0, 255).astype(np.uint8)
    images = torch.from_numpy(images).unsqueeze(1).float() / 255.0
    return images, torch.from_numpy(raw.target)


def loaders():
    x, y = load_images()
    return (DataLoader(TensorDataset(x[:1280], y[:1280]), batch_size=BATCH, shuffle=True),
            DataLoader(TensorDataset(x[1280:], y[1280:]), batch_size=BATCH))


class LeNetish(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 10, 3)
        self.fc1 = nn.Linear(90, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv(x)), 2)
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def main(epochs=4):
    torch.manual_seed(0)
    device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
    train, test = loaders()
    net = LeNetish().to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(epochs):
        net.train()
        for img, lab in train:
            img = img.to(device)
            lab = lab.to(device)
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(img), lab)
            loss.backward()
            opt.step()
        net.eval()
        good = 0
        with torch.no_grad():
            for img, lab in test:
                img = img.to(device)
                good += (net(img).argmax(1).cpu() == lab).sum().item()
        print(f"epoch {epoch}: loss={loss.item():.5f}, test={good / len(test.dataset):.3f}")


if __name__ == "__main__":
    main()
