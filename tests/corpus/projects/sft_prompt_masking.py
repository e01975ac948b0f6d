"""Supervised fine-tuning of a small language model: only answers count for the loss."""
import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

PAD, SEP, EOS = 0, 1, 2
FIRST = 3


@dataclass
class Example:
    prompt: list
    answer: list


def make_examples(count, rng):
    rows = []
    for _ in range(count):
        prompt = [rng.randrange(FIRST, 19) for _ in range(rng.randrange(2, 6))]
        rows.append(Example(prompt + [SEP], sorted(prompt) + [EOS]))
    return rows


class Collator:
    def __init__(self, length=14):
        self.length = length

    def __call__(self, batch):
        ids = torch.full((len(batch), self.length), PAD)
        labels = torch.full((len(batch), self.length), PAD)
        for row, example in enumerate(batch):
            tokens = example.prompt + example.answer
            ids[row, : len(tokens)] = torch.tensor(tokens)
            labels[row, len(example.prompt) : len(tokens)] = torch.tensor(example.answer)
        return {"input_ids": ids, "labels": labels}


class TinyLM(nn.Module):
    def __init__(self, vocab=19, width=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, input_ids, labels):
        hidden, _ = self.rnn(self.embed(input_ids))
        logits = self.head(hidden)
        shift_logits, shift_labels = logits[:, :-1], labels[:, 1:]
        loss = F.cross_entropy(shift_logits.flatten(0, 1), shift_labels.flatten(), ignore_index=-100)
        return loss, logits


def answer_accuracy(model, batch):
    with torch.no_grad():
        _, logits = model(**batch)
    guess, labels = logits[:, :-1].argmax(-1), batch["labels"][:, 1:]
    counted = labels > PAD
    return (guess[counted] == labels[counted]).float().mean().item()


def main(epochs=4):
    torch.manual_seed(2)
    rng = random.Random(2)
    loader = DataLoader(make_examples(1200, rng), batch_size=32, shuffle=True, collate_fn=Collator())
    held_out = Collator()(make_examples(200, rng))
    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(epochs):
        for batch in loader:
            loss, _ = model(**batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f} answers {answer_accuracy(model, held_out):.4f}")


if __name__ == "__main__":
    main()
