import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(1)
images = torch.from_numpy(load_digits().images).float().div(16.0).unsqueeze(1)[:512]


class ConvAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.enc2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.dec1 = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.dec2 = nn.ConvTranspose2d(8, 1, 2, stride=2)

    def forward(self, x):
        h = F.relu(self.enc1(x))
        h = F.relu(self.enc2(h))
        h = F.relu(self.dec1(h))
        return torch.sigmoid(self.dec2(h))


def train(model, data, epochs=4, batch_size=64):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    model.train()
    for epoch in range(epochs):
        perm = torch.randperm(len(data))
        total = 0.0
        for i in range(0, len(data), batch_size):
            x = data[perm[i:i + batch_size]]
            optimizer.zero_grad()
            recon = model(x)
            loss = F.binary_cross_entropy(recon, x)
            loss.backward()
            total += loss.item()
        print("Epoch {} / {}: loss = {:.6f}".format(epoch + 1, epochs, total / (len(data) // batch_size)))


train(ConvAE(), images)
