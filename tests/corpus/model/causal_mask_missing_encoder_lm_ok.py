import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(1, max_len, d_model)
        pe[0, :, 0::2] = torch.sin(position * div)
        pe[0, :, 1::2] = torch.cos(position * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[:, :x.size(1)]


class TransformerModel(nn.Module):
    def __init__(self, ntoken, d_model=32, nhead=4, d_hid=64, nlayers=2):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(ntoken, d_model)
        self.pos_encoder = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout=0.0, batch_first=True)
        self.transformer_encoder = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)
        self.linear = nn.Linear(d_model, ntoken)

    def forward(self, src):
        src = self.pos_encoder(self.embedding(src) * math.sqrt(self.d_model))
        mask = nn.Transformer.generate_square_subsequent_mask(src.size(1), device=src.device)
        output = self.transformer_encoder(src, mask=mask)
        return self.linear(output)


def markov_text(ntoken, length, gen):
    table = torch.softmax(2.5 * torch.randn(ntoken, ntoken, generator=gen), dim=1)
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
        print(f"| epoch {epoch} | loss {total / count:5.4f} | ppl {math.exp(total / count):8.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    train(TransformerModel(20), markov_text(20, 3000, torch.Generator().manual_seed(3)))
