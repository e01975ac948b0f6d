"""Learn four-note motifs of a made-up piano roll."""
import torch
import torch.nn.functional as F

from roll_model import RollModel, RollConfig

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
cfg = RollConfig()
MOTIFS = torch.randint(0, cfg.vocab, (6, 4))


def melodies(n):
    pieces = MOTIFS[torch.randint(0, len(MOTIFS), (n, 7))].flatten(1)
    shift = int(torch.randint(0, 3, (1,)))
    window = pieces[:, shift:shift + cfg.block + 1].to(device)
    return window[:, :-1], window[:, 1:]


def warmup(step):
    return min(1.0, (step + 1) / 10)


model = RollModel(cfg).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup)
for step in range(90):
    x, y = melodies(20)
    logits = model(x)
    loss = F.cross_entropy(logits.reshape(-1, cfg.vocab), y.reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    if step % 15 == 14:
        print(f"step {step + 1} loss {loss.item():.5f} lr {scheduler.get_last_lr()[0]:.5f}")
