"""Tiny made-up sentences of different lengths."""
import torch
from torch.nn.utils.rnn import pad_sequence

SUBJECTS = ["the cat", "a small dog", "the old man", "my sister", "the very tired engineer"]
VERBS = ["sees", "likes", "follows", "paints"]
OBJECTS = ["fish", "the red ball", "a house near the river", "music", "the cat of my sister"]


class Vocabulary:
    def __init__(self, sentences):
        words = sorted({w for s in sentences for w in s.split()})
        self.itos = ["<pad>", "<s>", "</s>"] + words
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def encode(self, sentence):
        ids = [self.stoi[w] for w in sentence.split()]
        return torch.tensor([self.stoi["<s>"], *ids, self.stoi["</s>"]])


def sentences():
    return [f"{s} {v} {o}" for s in SUBJECTS for v in VERBS for o in OBJECTS]


def collate(batch):
    ids = pad_sequence(batch, batch_first=True, padding_value=0)
    return ids[:, :-1], ids[:, 1:]
