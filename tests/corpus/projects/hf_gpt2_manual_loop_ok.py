"""A hand-written loop for a tiny GPT-2: the model computes the loss from labels."""
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2Config, GPT2LMHeadModel, get_cosine_schedule_with_warmup

VOCAB, LENGTH = 20, 20


class Sequences(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        start = torch.randint(0, VOCAB, (count, 1), generator=generator)
        jumps = torch.randint(0, 2, (count, LENGTH + 1), generator=generator) * 4 + 1
        self.tokens = (start + jumps.cumsum(1)) % VOCAB

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        row = self.tokens[index]
        return {"input_ids": row[:-1], "labels": row[:-1]}


@torch.no_grad()
def next_token_accuracy(model, data):
    model.eval()
    tokens = data.tokens[:, :-1]
    guess = model(input_ids=tokens).logits[:, :-1].argmax(-1)
    gap = (guess - tokens[:, :-1]) % VOCAB
    return ((gap == 1) | (gap == 5)).float().mean().item()


def main(epochs=3):
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config)
    train, val = Sequences(640, 0), Sequences(100, 1)
    loader = DataLoader(train, batch_size=16, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    scheduler = get_cosine_schedule_with_warmup(optimizer, 10, epochs * len(loader))
    for epoch in range(epochs):
        model.train()
        for batch in loader:
            outputs = model(**batch)
            optimizer.zero_grad()
            outputs.loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
        print(f"epoch {epoch} loss {outputs.loss.item():.4f} legal {next_token_accuracy(model, val):.4f}")


if __name__ == "__main__":
    main()
