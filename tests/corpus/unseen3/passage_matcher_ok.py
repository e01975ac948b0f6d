import argparse
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.scale = dim ** -0.5

    def forward(self, query, memory):
        q, k, v = self.wq(query), self.wk(memory), self.wv(memory)
        scores = torch.bmm(q, k.transpose(1, 2)) * self.scale
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights, v), weights


class Retriever(nn.Module):
    def __init__(self, n_keys, n_values, dim):
        super().__init__()
        self.keys = nn.Embedding(n_keys, dim)
        self.values = nn.Embedding(n_values, dim)
        self.attn = CrossAttention(dim)
        self.out = nn.Linear(dim, n_values)

    def forward(self, question, keys, values):
        memory = self.keys(keys) + self.values(values)
        ctx, _ = self.attn(self.keys(question), memory)
        return self.out(ctx)


def sample(n, args):
    keys = torch.stack([torch.randperm(args.keys)[: args.facts] for _ in range(n)])
    values = torch.randint(0, args.values, (n, args.facts))
    pick = torch.randint(0, args.facts, (n, 1))
    return keys.gather(1, pick), keys, values, values.gather(1, pick).squeeze(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--keys", type=int, default=12)
    ap.add_argument("--values", type=int, default=6)
    ap.add_argument("--facts", type=int, default=5)
    ap.add_argument("--steps", type=int, default=400)
    args = ap.parse_args()
    torch.manual_seed(1)
    net = Retriever(args.keys, args.values, 32)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    ce = nn.CrossEntropyLoss()
    for step in range(1, args.steps + 1):
        question, keys, values, answer = sample(64, args)
        loss = ce(net(question, keys, values)[:, 0], answer)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 80 == 0:
            print("step", step, "loss", round(loss.item(), 4))
    with torch.no_grad():
        question, keys, values, answer = sample(500, args)
        acc = (net(question, keys, values)[:, 0].argmax(-1) == answer).float().mean().item()
    print("recall accuracy", round(acc, 3))


if __name__ == "__main__":
    main()
