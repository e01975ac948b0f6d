"""A small GPT-2, built from its config, learns to count in threes. Nothing is downloaded, nothing is ours.

python examples/transformers_tiny.py
stepscope run examples/transformers_tiny.py        # the same, watched
"""

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

VOCABULARY, LENGTH = 64, 16


class Counting(Dataset):
    """5, 8, 11, 14 ... from a random number on."""

    def __init__(self, rows: int, seed: int) -> None:
        start = torch.randint(0, VOCABULARY, (rows, 1), generator=torch.Generator().manual_seed(seed))
        self.ids = (start + torch.arange(LENGTH) * 3) % VOCABULARY

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def main() -> None:
    set_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, n_positions=32, n_embd=64, n_layer=2, n_head=4))
    arguments = TrainingArguments(
        output_dir="counting",
        num_train_epochs=4,
        per_device_train_batch_size=16,
        gradient_accumulation_steps=2,
        learning_rate=5e-3,
        warmup_steps=5,
        lr_scheduler_type="cosine",
        eval_strategy="epoch",
        save_strategy="no",
        logging_steps=8,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    trainer = Trainer(model, arguments, train_dataset=Counting(512, seed=0), eval_dataset=Counting(64, seed=1))
    trainer.train()
    print(f"test loss {trainer.predict(Counting(64, seed=2)).metrics['test_loss']:.4f}")


if __name__ == "__main__":
    main()
