import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
data = torch.tensor(load_digits().data[:640] / 16.0, dtype=torch.float32)
loader = DataLoader(data, batch_size=64, shuffle=True)


class AutoEncoder(nn.Module):
    def __init__(self, code=8):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Linear(64, 32),
            nn.ReLU(),
            nn.Linear(32, code),
        )
        self.dec = nn.Sequential(
            nn.Linear(code, 32),
            nn.ReLU(),
            nn.Linear(32, 64),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.dec(self.enc(x))


ae = AutoEncoder().to(device)
opt = torch.optim.Adam(ae.parameters(), lr=5e-3)
criterion = nn.BCELoss()
for epoch in range(5):
    for img in loader:
        img = img.to(device)
        rec = ae(img)
        loss = criterion(rec, img)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch [{}/5], loss:{:.5f}".format(epoch + 1, loss.item()))
torch.save(ae.state_dict(), "autoencoder.pth")
