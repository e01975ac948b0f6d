"""A tiny BERT on made reviews of different lengths."""
import random

import torch
from torch.utils.data import DataLoader
from transformers import BertConfig, BertForSequenceClassification

PAD, CLS, GOOD, BAD = 0, 1, range(2, 8), range(8, 14)
NEUTRAL = range(14, 40)


def make_reviews(count, seed):
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        label = rng.randrange(2)
        words = [rng.choice(NEUTRAL) for _ in range(rng.randrange(3, 10))]
        for _ in range(2):
            words.insert(rng.randrange(len(words)), rng.choice(GOOD if label else BAD))
        rows.append(([CLS, *words], label))
    return rows


def collate(rows):
    longest = 24
    ids = torch.full((len(rows), longest), PAD)
    for place, (words, _) in enumerate(rows):
        ids[place, : len(words)] = torch.tensor(words)
    return {
        "input_ids": ids,
        "attention_mask": (ids != PAD).long(),
        "labels": torch.tensor([label for _, label in rows]),
    }


def run(model, batch):
    return model(
        input_ids=batch["input_ids"],
        labels=batch["labels"],
    )


def main(epochs=4):
    torch.manual_seed(2)
    config = BertConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=32, num_labels=2, pad_token_id=PAD,
    )
    model = BertForSequenceClassification(config)
    loader = DataLoader(make_reviews(480, 0), batch_size=16, shuffle=True, collate_fn=collate)
    val = collate(make_reviews(200, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        model.train()
        for batch in loader:
            loss = run(model, batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (run(model, val).logits.argmax(1) == val["labels"]).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} val {accuracy:.4f}")


if __name__ == "__main__":
    main()
