import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 16, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(16, 8, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(8, 1, kernel_size=3, stride=2, padding=1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, loader, epochs):
        history = []
        for _ in range(epochs):
            losses = []
            for batch in loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(batch), batch)
                loss.backward()
                self.optimizer.step()
                losses.append(loss.item())
            history.append(sum(losses) / len(losses))
        return history


if __name__ == "__main__":
    torch.manual_seed(21)
    pictures = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16.0
    loader = DataLoader(pictures, batch_size=128, shuffle=True)
    print(Trainer(AutoEncoder()).fit(loader, epochs=5))
