"""Tell rising melodies from falling ones."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Melodies(Dataset):
    def __init__(self, count):
        generator = torch.Generator().manual_seed(41)
        self.items = []
        for i in range(count):
            length = int(torch.randint(5, 16, (1,), generator=generator))
            steps = torch.randn(length, generator=generator) + (0.4 if i % 2 else -0.4)
            self.items.append((steps.cumsum(0), i % 2))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        pitch, label = self.items[index]
        return pitch, torch.tensor(float(label))


def pad_melodies(batch):
    pitches, labels = zip(*batch)
    lengths = torch.tensor([len(p) for p in pitches])
    padded = pad_sequence(pitches, batch_first=True)
    return torch.stack([padded, (torch.arange(padded.size(1)) < lengths[:, None]).float()], dim=1), torch.stack(labels)


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 16, 3, padding=1)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        hidden = F.relu(self.conv(x))
        present = x[:, 1:2]
        return self.out((hidden * present).sum(2) / present.sum(2)).squeeze(1)


if __name__ == "__main__":
    torch.manual_seed(41)
    loader = DataLoader(Melodies(400), batch_size=40, shuffle=True, collate_fn=pad_melodies)
    model = Listener()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(6):
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(x), y)
            loss.backward()
            optimizer.step()
        print(epoch, round(loss.item(), 4))
