import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class SEBlock(nn.Module):
    def __init__(self, ch, r=4):
        super().__init__()
        self.down = nn.Linear(ch, ch // r)
        self.up = nn.Linear(ch // r, ch)

    def forward(self, x):
        s = x.mean(dim=(2, 3))
        gate = torch.sigmoid(self.up(torch.relu(self.down(s))))
        gate = gate * 2                       # start near one
        return x * gate[:, :, None, None]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.se = SEBlock(16)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 4, 10)

    def forward(self, x):
        x = self.se(torch.relu(self.conv1(x)))
        x = torch.relu(self.conv2(x))
        x = nn.functional.adaptive_max_pool2d(x, 2)
        return self.fc(x.flatten(1))


def main():
    torch.manual_seed(19)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    digits = load_digits()
    ds = TensorDataset(torch.tensor(digits.images[:500], dtype=torch.float32)[:, None] / 16, torch.tensor(digits.target[:500]))
    loader = DataLoader(ds, batch_size=50, shuffle=True)
    net = Net().to(device)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    ce = nn.CrossEntropyLoss()
    for epoch in range(5):
        total = 0.0
        for img, digit in loader:
            img, digit = img.to(device), digit.to(device)
            opt.zero_grad()
            loss = ce(net(img), digit)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch}  {total / len(loader):.6f}")


if __name__ == "__main__":
    main()
