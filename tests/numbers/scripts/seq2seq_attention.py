"""Translation tutorial: an encoder's and a decoder's optimizer step after one backward; the loss is added up."""

import torch
from torch import nn, optim

torch.manual_seed(1)


class EncoderRNN(nn.Module):
    def __init__(self, words: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)

    def forward(self, words):
        return self.gru(self.embedding(words))


class DecoderRNN(nn.Module):
    def __init__(self, words: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, words)

    def forward(self, words, hidden):
        output, hidden = self.gru(self.embedding(words), hidden)
        return self.out(output), hidden


def length_penalty(logits):
    value = logits.softmax(-1)[..., 0].mean()
    return (value - 0.1) ** 2


def train_epoch(dataloader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion):
    total_loss = 0
    for inputs, targets in dataloader:
        encoder_optimizer.zero_grad()
        decoder_optimizer.zero_grad()
        _, hidden = encoder(inputs)
        logits, _ = decoder(targets, hidden)
        losses = {}
        losses["translation"] = criterion(logits.flatten(0, 1), targets.flatten())
        losses["length"] = length_penalty(logits)
        loss = sum(losses.values())
        loss.backward()
        encoder_optimizer.step()
        decoder_optimizer.step()
        total_loss += loss.item()
    return total_loss / len(dataloader)


def main() -> None:
    words, hidden = 12, 16
    inputs, targets = torch.randint(words, (48, 6)), torch.randint(words, (48, 6))
    dataset = torch.utils.data.TensorDataset(inputs, targets)
    dataloader = torch.utils.data.DataLoader(dataset, batch_size=16)
    encoder, decoder = EncoderRNN(words, hidden), DecoderRNN(words, hidden)
    encoder_optimizer = optim.Adam(encoder.parameters(), lr=0.01)
    decoder_optimizer = optim.Adam(decoder.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, 5):
        loss = train_epoch(dataloader, encoder, decoder, encoder_optimizer, decoder_optimizer, criterion)
        print(f"Epoch {epoch}/4 Loss: {loss:.4f}")


main()
