"""Fine-tunes a tiny DistilBERT with accumulated gradients and a linear schedule."""
import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, get_linear_schedule_with_warmup

ACCUMULATION, EPOCHS, WARMUP = 8, 4, 0.1


def make_data(count, seed):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(4, 40, (count, 16), generator=generator)
    ids[:, 0] = 1
    labels = (ids[:, 1:] < 12).sum(1).clamp(2, 5) - 2
    return TensorDataset(ids, labels)


def make_model():
    config = DistilBertConfig(
        vocab_size=40, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=16, num_labels=4,
        dropout=0.0, attention_dropout=0.0, seq_classif_dropout=0.0,
    )
    return DistilBertForSequenceClassification(config)


def accuracy(model, data):
    model.eval()
    with torch.no_grad():
        guess = model(input_ids=data.tensors[0]).logits.argmax(1)
    return (guess == data.tensors[1]).float().mean().item()


def main():
    torch.manual_seed(6)
    train, val = make_data(640, 0), make_data(200, 1)
    loader = DataLoader(train, batch_size=8, shuffle=True)
    model = make_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    total_steps = len(loader) * EPOCHS
    scheduler = get_linear_schedule_with_warmup(optimizer, int(WARMUP * total_steps), total_steps)
    for epoch in range(EPOCHS):
        model.train()
        for index, (ids, labels) in enumerate(loader):
            loss = model(input_ids=ids, labels=labels).loss / ACCUMULATION
            loss.backward()
            if (index + 1) % ACCUMULATION == 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        rate = scheduler.get_last_lr()[0]
        print(f"epoch {epoch} loss {loss.item() * ACCUMULATION:.4f} lr {rate:.2e} val {accuracy(model, val):.4f}")


if __name__ == "__main__":
    main()
