import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class DistMult(nn.Module):
    def __init__(self, num_entities, num_relations, dim=16):
        super().__init__()
        self.entity = nn.Embedding(num_entities, dim)
        self.relation = nn.Embedding(num_relations, dim)

    def score(self, head, relation, tail):
        return (self.entity(head) * self.relation(relation) * self.entity(tail)).sum(-1)

    def forward(self, head, relation, tail, corrupt):
        pos = self.score(head, relation, tail)
        neg = self.score(head, relation, corrupt)
        return F.softplus(neg - pos).mean()


def family_triples(n=60):
    """(person, relation, person): neighbours and same-group members."""
    rows = []
    for i in range(n):
        rows.append((i, 0, (i + 1) % n))
        rows.append((i, 1, (i + n // 2) % n))
        rows.append((i, 2, i - i % 5))
        rows.append((i, 3, (i + 7) % n))
    return np.array(rows, dtype=np.int64)


def main():
    torch.manual_seed(8)
    rng = np.random.default_rng(8)
    triples = family_triples()
    model = DistMult(num_entities=60, num_relations=4)
    opt = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(10):
        rng.shuffle(triples)
        losses = []
        for batch in np.array_split(triples, 6):
            head, relation, tail = torch.from_numpy(batch).unbind(1)
            corrupt = torch.from_numpy(rng.integers(0, 60, len(batch)))
            loss = model(head, relation, tail, corrupt)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.6f}")


if __name__ == "__main__":
    main()
