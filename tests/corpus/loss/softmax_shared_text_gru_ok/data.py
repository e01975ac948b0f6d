import torch
from torch.utils.data import Dataset

TOPICS = {
    0: "ball goal match team coach player score league".split(),
    1: "vote law party senate bill president court policy".split(),
    2: "atom cell energy planet theory lab orbit gene".split(),
}
COMMON = "the a of and in on to with by for is was".split()
VOCAB = {w: i for i, w in enumerate(sorted({w for ws in TOPICS.values() for w in ws} | set(COMMON)))}


class Headlines(Dataset):
    def __init__(self, n, length=9, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.items = []
        for _ in range(n):
            label = int(torch.randint(3, (1,), generator=g))
            words = []
            for _ in range(length):
                pool = TOPICS[label] if torch.rand(1, generator=g) < 0.35 else COMMON
                words.append(pool[int(torch.randint(len(pool), (1,), generator=g))])
            self.items.append((torch.tensor([VOCAB[w] for w in words]), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]
