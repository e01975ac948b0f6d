import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
VOCAB, TAGS, LEN = 30, 5, 12


def make_sentences(n):
    """Each word has a tag; words after an odd word are shifted by one tag."""
    words = torch.randint(0, VOCAB, (n, LEN))
    prev = torch.cat([torch.zeros(n, 1, dtype=torch.long), words[:, :-1]], dim=1)
    tags = (words % TAGS + prev % 2) % TAGS
    return words, tags


class Tagger(nn.Module):
    def __init__(self, emb=24, hid=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, emb)
        self.lstm = nn.LSTM(emb, hid, batch_first=True, bidirectional=True)
        self.to_tag = nn.Linear(2 * hid, TAGS)

    def forward(self, words):
        out, _ = self.lstm(self.emb(words))
        return self.to_tag(out)


tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.5)
words, tags = make_sentences(300)
held_words, held_tags = make_sentences(60)

for it in range(60):
    pick = torch.randint(0, len(words), (32,))
    tag_scores = tagger(words[pick])
    loss = F.nll_loss(tag_scores.view(-1, TAGS), tags[pick].view(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(tagger.parameters(), 5.0)
    optimizer.step()
    scheduler.step()
    if it % 10 == 9:
        print(f"iter {it + 1:3d}  loss {loss.item():.5f}")

tagger.eval()
with torch.no_grad():
    acc = (tagger(held_words).argmax(-1) == held_tags).float().mean().item()
print(f"held-out tag accuracy {acc:.4f}")
