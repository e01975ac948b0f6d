import torch
import torch.nn.functional as F

from corpus_data import counting_sequences, VOCAB
from lm import TinyLM


def loss_of(model, ids):
    logits = model(ids)
    return F.cross_entropy(logits.reshape(-1, VOCAB), ids.reshape(-1))


def main():
    torch.manual_seed(3)
    train, val = counting_sequences(256, seed=0), counting_sequences(32, seed=1)
    model = TinyLM(VOCAB, max_len=train.size(1))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 10))
    step = 0
    for epoch in range(4):
        model.train()
        for rows in torch.randperm(len(train)).split(32):
            opt.zero_grad()
            loss = loss_of(model, train[rows])
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            step += 1
        model.eval()
        with torch.no_grad():
            val_loss = loss_of(model, val).item()
        print(f"step {step} train {loss.item():.5f} val {val_loss:.5f}")


if __name__ == "__main__":
    main()
