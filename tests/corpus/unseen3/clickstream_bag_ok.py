import random
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, DataLoader

random.seed(3)
torch.manual_seed(3)


class Clickstream(Dataset):
    """Pages visited in one session and whether it ended with an order."""

    def __init__(self, n=400, n_pages=50):
        self.rows = []
        for _ in range(n):
            pages = [random.randint(1, n_pages) for _ in range(random.randint(2, 15))]
            self.rows.append((pages, int(any(p <= 5 for p in pages))))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, idx):
        pages, bought = self.rows[idx]
        return torch.tensor(pages), torch.tensor(float(bought))


def pad_batch(batch):
    pages = pad_sequence([b[0] for b in batch], batch_first=True, padding_value=0)
    return pages, torch.stack([b[1] for b in batch])


class BagModel(nn.Module):
    def __init__(self, n_pages=50, d=8):
        super().__init__()
        self.emb = nn.Embedding(n_pages + 1, d, padding_idx=0)
        self.mlp = nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, pages):
        return self.mlp(self.emb(pages).sum(1)).squeeze(1)


loader = DataLoader(Clickstream(), batch_size=20, shuffle=True, collate_fn=pad_batch)
model = BagModel()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(5):
    running = 0.0
    for pages, bought in loader:
        opt.zero_grad()
        loss = loss_fn(model(pages), bought)
        loss.backward()
        opt.step()
        running += loss.item()
    print("epoch", epoch, "loss", round(running / len(loader), 4))
