import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class LearnedGamma(nn.Module):
    """Brightness correction with a trainable exponent per image channel."""

    def __init__(self, channels=1):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((1, channels, 1, 1), 0.8))

    def forward(self, img):
        return img.clamp(min=1e-3) ** self.gamma


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = LearnedGamma()
        self.features = nn.Sequential(nn.Conv2d(1, 12, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.head = nn.Linear(12 * 9, 10)

    def forward(self, img):
        return self.head(self.features(self.gamma(img)))


def add_sensor_noise(img):
    return img + 0.05 * torch.randn_like(img)


def main():
    torch.manual_seed(10)
    bunch = load_digits()
    img = torch.tensor(bunch.images[:480] / 16.0, dtype=torch.float32).unsqueeze(1)
    label = torch.tensor(bunch.target[:480])
    loader = DataLoader(TensorDataset(img[:400], label[:400]), batch_size=50, shuffle=True)
    net = SmallNet()
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
    opt = torch.optim.NAdam(net.parameters(), lr=6e-3)
    for epoch in range(6):
        net.train()
        for x, y in loader:
            loss = loss_fn(net(add_sensor_noise(x)), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(img[400:]).argmax(1) == label[400:]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.5f} gamma {net.gamma.gamma.item():.5f} val {acc:.4f}")


main()
