import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

# Device configuration
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

# Hyper-parameters
sequence_length, input_size, hidden_size, num_layers = 15, 3, 24, 2
num_classes, batch_size, num_epochs, learning_rate = 3, 30, 6, 0.01


class Motion(Dataset):
    def __init__(self, n=300):
        rng = np.random.default_rng(2)
        self.y = rng.integers(0, num_classes, n)
        base = np.cumsum(rng.normal(0, 0.3, (n, sequence_length, input_size)), axis=1)
        for i, c in enumerate(self.y):
            base[i, :, c] += np.linspace(0, 3, sequence_length)
        self.x = base.astype(np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), torch.tensor(self.y[i])


class RNN(nn.Module):
    def __init__(self):
        super(RNN, self).__init__()
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, num_classes)

    def forward(self, x):
        # Set initial hidden and cell states
        h0 = torch.zeros(num_layers, x.size(0), hidden_size).to(x.device)
        c0 = torch.zeros(num_layers, x.size(0), hidden_size).to(x.device)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


torch.manual_seed(2)
train_loader = DataLoader(Motion(), batch_size=batch_size, shuffle=True)
model = RNN().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

total_step = len(train_loader)
for epoch in range(num_epochs):
    for i, (series, labels) in enumerate(train_loader):
        series = series.to(device)
        labels = labels.to(device)
        outputs = model(series)
        loss = criterion(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (i + 1) % 10 == 0:
            print('Epoch [{}/{}], Step [{}/{}], Loss: {:.5f}'.format(
                epoch + 1, num_epochs, i + 1, total_step, loss.item()))
