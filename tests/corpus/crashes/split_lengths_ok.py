import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = torch.randn(333, 4)
data = TensorDataset(x, (x[:, 0] > 0).float())
n_train = int(0.8 * len(data))
n_val = len(data) - n_train
train_set, val_set = random_split(data, [n_train, n_val])
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for xb, yb in DataLoader(train_set, batch_size=32, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(model(xb).squeeze(1), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
