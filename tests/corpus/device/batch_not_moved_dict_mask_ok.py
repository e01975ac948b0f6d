import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

PAD, VOCAB = 0, 40


class Tickets(Dataset):
    def __init__(self, n=320, max_len=12, seed=1):
        g = torch.Generator().manual_seed(seed)
        self.examples = []
        for _ in range(n):
            length = int(torch.randint(4, max_len + 1, (1,), generator=g))
            ids = torch.randint(2, VOCAB, (length,), generator=g)
            urgent = int(torch.rand(1, generator=g) < 0.5)
            if urgent:
                ids[int(torch.randint(0, length, (1,), generator=g))] = 1
            padded = torch.full((max_len,), PAD)
            padded[:length] = ids
            self.examples.append({"input_ids": padded, "attention_mask": padded != PAD, "labels": torch.tensor(urgent)})

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, i):
        return self.examples[i]


class TicketModel(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.score = nn.Linear(dim, 1)
        self.out = nn.Linear(dim, 2)

    def forward(self, input_ids, attention_mask):
        x = self.embed(input_ids)
        att = self.score(x).squeeze(-1).masked_fill(~attention_mask, float("-inf")).softmax(-1)
        return self.out((att.unsqueeze(-1) * x).sum(1))


torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(Tickets(), batch_size=32, shuffle=True)
model = TicketModel().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(8):
    total = 0.0
    for batch in loader:
        ids = batch["input_ids"].to(device)
        mask = batch["attention_mask"].to(device)
        labels = batch["labels"].to(device)
        loss = loss_fn(model(ids, mask), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print({"epoch": epoch, "loss": round(total / len(loader), 6)})
