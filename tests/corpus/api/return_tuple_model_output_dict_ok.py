import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, n=300, length=8, vocab=25, seed=2):
        g = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(1, vocab, (n, length), generator=g)
        self.labels = (self.ids.float().mean(1) > vocab / 2).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return {"ids": self.ids[i], "label": self.labels[i]}


class SentenceModel(nn.Module):
    def __init__(self, vocab=25, dim=20):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.cls = nn.Linear(dim, 2)

    def forward(self, ids):
        hidden = torch.tanh(self.mix(self.emb(ids)))
        pooled = hidden.mean(1)
        return {"logits": self.cls(pooled), "hidden": hidden, "pooled": pooled}


class Trainer:
    def __init__(self, model, dataset, lr=0.01):
        self.model = model
        self.loader = DataLoader(dataset, batch_size=30, shuffle=True)
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def training_step(self, batch):
        outputs = self.model(batch["ids"])
        return self.loss_fn(outputs["logits"], batch["label"])

    def fit(self, epochs):
        for epoch in range(epochs):
            losses = []
            for batch in self.loader:
                loss = self.training_step(batch)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                losses.append(loss.item())
            print(f"epoch {epoch} | loss {sum(losses) / len(losses):.6f}")


torch.manual_seed(2)
Trainer(SentenceModel(), Sentences()).fit(6)
