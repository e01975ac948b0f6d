import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

data = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
loader = torch.utils.data.DataLoader(data, batch_size=128, shuffle=True)

encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 8)).to(device)
decoder = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 64), nn.Sigmoid()).to(device)

optimizer = torch.optim.Adam(decoder.parameters(), lr=1e-2)
mse = nn.MSELoss()

for epoch in range(5):
    total, n = 0.0, 0
    for batch in loader:
        batch = batch.to(device)
        optimizer.zero_grad()
        code = encoder(batch)
        loss = mse(decoder(code), batch)
        loss.backward()
        optimizer.step()
        total += loss.item() * batch.size(0)
        n += batch.size(0)
    print(f"Epoch {epoch}: reconstruction error {total / n:.6f}")
