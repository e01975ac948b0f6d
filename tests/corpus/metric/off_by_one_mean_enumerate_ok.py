import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader


class AutoEncoder(nn.Module):
    def __init__(self):
        super(AutoEncoder, self).__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 32), nn.ReLU(True), nn.Linear(32, 8))
        self.decoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(True), nn.Linear(32, 64), nn.Sigmoid())

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(torch.relu(code))


torch.manual_seed(0)
pixels = torch.tensor(load_digits().data / 16, dtype=torch.float32)
trainloader = DataLoader(pixels[:1000], batch_size=100, shuffle=True)
testloader = DataLoader(pixels[1000:1400], batch_size=100)

net = AutoEncoder()
criterion = nn.MSELoss()
optimizer = optim.Adam(net.parameters(), lr=5e-3)

for epoch in range(6):
    net.train()
    running_loss = 0.0
    for i, batch in enumerate(trainloader):
        optimizer.zero_grad()
        loss = criterion(net(batch), batch)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    net.eval()
    test_loss = 0.0
    with torch.no_grad():
        for batch in testloader:
            test_loss += criterion(net(batch), batch).item()
    print('[%d] train %.6f test %.6f' % (epoch + 1, running_loss / (i + 1), test_loss / len(testloader)))
