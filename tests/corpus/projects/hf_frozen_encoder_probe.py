"""Features of a frozen tiny BERT are computed once; only a probe on top of them trains."""
import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel

WORDS = 60


def make_texts(count, seed):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(1, WORDS, (count, 14), generator=generator)
    lengths = torch.randint(6, 15, (count,), generator=generator)
    mask = (torch.arange(14)[None] < lengths[:, None]).long()
    ids = ids * mask
    labels = (((ids > 0) & (ids < 20)).sum(1) * 2 > lengths * 0.7).long()
    return ids, mask, labels


@torch.inference_mode()
def features(encoder, ids, mask):
    hidden = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).float()
    return (hidden * weights).sum(1) / weights.sum(1)


class Probe(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, x):
        return self.layers(x)


def main(epochs=15):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=WORDS, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=16,
    )
    encoder = BertModel(config).eval().requires_grad_(False)
    ids, mask, labels = make_texts(1000, 0)
    x = features(encoder, ids, mask).clone()
    probe = Probe(48)
    optimizer = torch.optim.Adam(probe.parameters(), lr=2e-3)
    for epoch in range(epochs):
        for rows in torch.randperm(800).split(40):
            loss = F.cross_entropy(probe(x[rows]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                accuracy = (probe(x[800:]).argmax(1) == labels[800:]).float().mean()
            print(f"epoch {epoch} loss {loss.item():.4f} test {accuracy:.4f}")


if __name__ == "__main__":
    main()
