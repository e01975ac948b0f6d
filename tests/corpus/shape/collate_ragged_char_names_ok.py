import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

NAMES = {
    "it": "rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti".split(),
    "de": "schmidt schneider fischer weber meyer wagner becker schulz hoffmann koch bauer richter klein".split(),
}
ALPHABET = {c: i + 1 for i, c in enumerate("abcdefghijklmnopqrstuvwxyz")}
LANGS = sorted(NAMES)


class NameDataset(Dataset):
    def __init__(self):
        self.rows = [(n, LANGS.index(lang)) for lang in LANGS for n in NAMES[lang]]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        name, lang = self.rows[i]
        return torch.tensor([ALPHABET[c] for c in name]), lang


def collate(batch):
    names, langs = zip(*batch)
    lengths = torch.tensor([len(n) for n in names])
    return pad_sequence(names, batch_first=True), lengths, torch.tensor(langs)


class NameGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHABET) + 1, 10, padding_idx=0)
        self.gru = nn.GRU(10, 24, batch_first=True)
        self.fc = nn.Linear(24, len(LANGS))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.fc(h[-1])


if __name__ == "__main__":
    torch.manual_seed(10)
    loader = DataLoader(NameDataset(), batch_size=8, shuffle=True, collate_fn=collate)
    net = NameGRU()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    for epoch in range(12):
        losses = []
        for ids, lengths, langs in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(ids, lengths), langs)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: {sum(losses) / len(losses):.6f}")
