import math

import torch
from torch import nn


class Waves(nn.Module):
    """Fixed sine and cosine features of the place in the sequence."""

    def __init__(self, width, longest=64):
        super().__init__()
        speed = 10000.0 ** -torch.linspace(0, 1, width // 2)
        angle = torch.outer(torch.arange(float(longest)), speed)
        self.register_buffer("table", torch.cat([angle.sin(), angle.cos()], dim=1))

    def forward(self, x):
        return x + self.table[:x.size(1)]


class MarkovLM(nn.Module):
    def __init__(self, n_symbols, d_model=32, nhead=4, ff=64, nlayers=2):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(n_symbols, d_model)
        self.waves = Waves(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, ff, dropout=0.0, batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)
        self.linear = nn.Linear(d_model, n_symbols)

    def forward(self, src):
        src = self.waves(self.embedding(src) * math.sqrt(self.d_model))
        mask = nn.Transformer.generate_square_subsequent_mask(src.size(1), device=src.device)
        output = self.transformer_encoder(src, mask=mask)
        return self.linear(output)


def markov_text(n_symbols, length, gen):
    table = torch.softmax(2.5 * torch.randn(n_symbols, n_symbols, generator=gen), dim=1)
    out = [0]
    for _ in range(length - 1):
        out.append(int(torch.multinomial(table[out[-1]], 1, generator=gen)))
    return torch.tensor(out)


def train(model, data, epochs=4, bptt=20, rows=10):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    stream = data[: len(data) // rows * rows].view(rows, -1)
    for epoch in range(epochs):
        total, count = 0.0, 0
        for i in range(0, stream.size(1) - bptt - 1, bptt):
            inputs, targets = stream[:, i:i + bptt], stream[:, i + 1:i + bptt + 1]
            logits = model(inputs)
            loss = criterion(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            total, count = total + loss.item(), count + 1
        print(f"epoch {epoch}: loss {total / count:.5f} perplexity {math.exp(total / count):.4f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(MarkovLM(20), markov_text(20, 3000, torch.Generator().manual_seed(3)))
