import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


class Birdsongs(Dataset):
    def __init__(self, n):
        self.items = []
        for _ in range(n):
            species = int(torch.randint(0, 3, (1,)))
            length = int(torch.randint(8, 30, (1,)))
            pitch = torch.tensor([1.0, 2.0, 3.0])[species]
            song = torch.sin(pitch * torch.arange(length).float())[:, None] + 0.2 * torch.randn(length, 1)
            self.items.append((song, species))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate_songs(batch):
    songs, species = zip(*batch)
    lengths = torch.tensor([len(s) for s in songs])
    return pad_sequence(songs, batch_first=True), lengths, torch.tensor(species)


class SongGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 32, batch_first=True)
        self.out = nn.Linear(32, 3)

    def forward(self, songs, lengths):
        packed = pack_padded_sequence(songs, lengths, batch_first=True)
        _, h = self.gru(packed)
        return self.out(h[-1])


torch.manual_seed(2)
loader = DataLoader(Birdsongs(240), batch_size=24, shuffle=True, collate_fn=collate_songs)
net = SongGRU()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    hits = 0
    for songs, lengths, species in loader:
        logits = net(songs, lengths)
        loss = nn.functional.cross_entropy(logits, species)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (logits.argmax(1) == species).sum().item()
    print(f"epoch {epoch} loss {loss.item():.3f} acc {hits / 240:.3f}")
