import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class Walks(Dataset):
    """Random walks of different lengths; label 1 when the drift is upwards."""

    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.rows = []
        for _ in range(n):
            length = int(torch.randint(5, 20, (1,), generator=gen))
            up = int(torch.randint(0, 2, (1,), generator=gen))
            drift = 0.6 if up else -0.6
            self.rows.append((torch.randn(length, 1, generator=gen) + drift, up))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(batch):
    seqs = sorted((seq for seq, _ in batch), key=len, reverse=True)
    labels = torch.tensor([label for _, label in batch])
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, labels


class WalkNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 16, batch_first=True)
        self.fc = nn.Linear(16, 2)

    def forward(self, padded, lengths):
        packed = pack_padded_sequence(padded, lengths, batch_first=True)
        _, h = self.gru(packed)
        return self.fc(h[-1])


torch.manual_seed(1)
train_loader = DataLoader(Walks(320, 10), batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(Walks(96, 11), batch_size=48, collate_fn=collate)
net = WalkNet()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    net.train()
    epoch_loss = 0.0
    for padded, lengths, labels in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(padded, lengths), labels)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() / len(train_loader)
    net.eval()
    right = 0
    with torch.no_grad():
        for padded, lengths, labels in test_loader:
            right += (net(padded, lengths).argmax(1) == labels).sum().item()
    print(f"epoch {epoch + 1} loss {epoch_loss:.5f} accuracy {right / 96:.3f}")
