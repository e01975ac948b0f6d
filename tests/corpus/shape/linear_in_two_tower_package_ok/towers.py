import torch
from torch import nn


class QueryTower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.n_queries, cfg.embed_dim)
        self.net = nn.Sequential(
            nn.Linear(cfg.embed_dim, cfg.embed_dim),
            nn.GELU(),
            nn.Linear(cfg.embed_dim, cfg.tower_dim),
        )

    def forward(self, query_id):
        return self.net(self.embed(query_id))


class DocTower(nn.Module):
    """Looks at the document id and at its text features."""

    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.n_docs, cfg.embed_dim)
        self.text = nn.Linear(cfg.text_dim, cfg.text_dim)
        self.act = nn.GELU()
        self.out = nn.Linear(cfg.embed_dim + cfg.text_dim, cfg.tower_dim)

    def forward(self, doc_id, text):
        text = self.act(self.text(text))
        both = torch.cat([self.embed(doc_id), text], dim=-1)
        return self.out(both)


class TwoTower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.query = QueryTower(cfg)
        self.doc = DocTower(cfg)

    def forward(self, query_id, doc_id, text):
        q = self.query(query_id)
        d = self.doc(doc_id, text)
        return (q * d).sum(-1)
