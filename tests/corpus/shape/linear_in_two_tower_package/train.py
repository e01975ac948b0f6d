import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from config import Config
from towers import TwoTower


def make_clicks(cfg, n=512):
    g = torch.Generator().manual_seed(cfg.seed)
    q = torch.randint(0, cfg.n_queries, (n,), generator=g)
    d = torch.randint(0, cfg.n_docs, (n,), generator=g)
    table = torch.randn(cfg.n_docs, cfg.text_dim, generator=g)
    text = table[d]
    taste = torch.randn(cfg.n_queries, cfg.text_dim, generator=g)
    clicked = ((taste[q] * text).sum(-1) > 0).float()
    return TensorDataset(q, d, text, clicked)


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(make_clicks(cfg), batch_size=cfg.batch_size, shuffle=True)
    model = TwoTower(cfg).to(device)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        losses = []
        for batch in loader:
            q, d, text, clicked = (t.to(device) for t in batch)
            loss = F.binary_cross_entropy_with_logits(model(q, d, text), clicked)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} | bce {sum(losses) / len(losses):.6f}")


if __name__ == "__main__":
    main()
