"""A tiny language model with learned positions; one text is longer than the table of positions."""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


@dataclass
class Config:
    vocab_size: int = 40
    hidden_size: int = 16
    max_position_embeddings: int = 24


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.mix = nn.GRU(config.hidden_size, config.hidden_size, batch_first=True)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, input_ids):
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        hidden, _ = self.mix(self.tokens(input_ids) + self.positions(places))
        return self.head(hidden)


class Texts(torch.utils.data.Dataset):
    def __init__(self, length, count=64):
        made = torch.Generator().manual_seed(1)
        self.ids = torch.randint(0, 40, (count, length), generator=made)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return self.ids[index]


torch.manual_seed(0)
model = Decoder(Config())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for ids in DataLoader(Texts(length=32), batch_size=8, shuffle=True):
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
