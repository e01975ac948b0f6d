import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, n, transform=None):
        self.phase = torch.linspace(0, 6, n)
        self.transform = transform

    def __len__(self):
        return len(self.phase)

    def __getitem__(self, i):
        wave = torch.sin(torch.arange(16) / 3 + self.phase[i])
        return self.transform(wave), self.phase[i].cos()


def double(wave):
    return wave * 2.0


def main():
    torch.manual_seed(0)
    data = Waves(128, transform=double)
    loader = DataLoader(data, batch_size=16, num_workers=1, multiprocessing_context="spawn")
    model = nn.Linear(16, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())


if __name__ == "__main__":
    main()
