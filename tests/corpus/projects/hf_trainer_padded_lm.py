"""A tiny GPT-2 with the Trainer on padded counting sentences."""
import random

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from transformers.trainer_callback import PrinterCallback

PAD, BOS, EOS, FIRST, VOCAB = 0, 1, 2, 3, 24


class Counting(Dataset):
    def __init__(self, count, seed):
        rng = random.Random(seed)
        self.rows = []
        for _ in range(count):
            start, length = rng.randrange(10), rng.randrange(3, 9)
            numbers = [FIRST + (start + k) % (VOCAB - FIRST) for k in range(length)]
            self.rows.append([BOS, *numbers, EOS])

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return {"input_ids": self.rows[index]}


def collate(features):
    longest = max(len(f["input_ids"]) for f in features)
    longest = max(longest, 20)
    ids = torch.full((len(features), longest), PAD)
    mask = torch.zeros_like(ids)
    for row, feature in enumerate(features):
        tokens = feature["input_ids"]
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    labels = ids.clone()
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def main():
    set_seed(0)
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=BOS, eos_token_id=EOS,
        pad_token_id=PAD, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )
    model = GPT2LMHeadModel(config)
    arguments = TrainingArguments(
        output_dir="out", per_device_train_batch_size=16, num_train_epochs=2, learning_rate=5e-3, report_to=[],
        use_cpu=True, disable_tqdm=True, save_strategy="no", logging_strategy="no", remove_unused_columns=False,
    )
    trainer = Trainer(
        model=model, args=arguments, train_dataset=Counting(640, 0), eval_dataset=Counting(64, 1), data_collator=collate
    )
    trainer.remove_callback(PrinterCallback)
    result = trainer.train()
    print(f"train {result.training_loss:.4f} eval {trainer.evaluate()['eval_loss']:.4f}")


if __name__ == "__main__":
    main()
