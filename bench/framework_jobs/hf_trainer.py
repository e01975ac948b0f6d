# launcher: torchrun
"""The Trainer of Transformers, with a small model made here."""

import os

os.environ["USE_TF"] = "0"  # TensorFlow may be beside it

import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

torch.set_num_threads(1)


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, at):
        ids = torch.randint(0, 50, (12,), generator=torch.Generator().manual_seed(at))
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": (ids[0] > 25).long()}


config = BertConfig(
    vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, num_labels=2
)
arguments = TrainingArguments(
    output_dir="out", per_device_train_batch_size=8, num_train_epochs=2, use_cpu=True, report_to=[], save_strategy="no",
    disable_tqdm=True, logging_steps=4, ddp_backend="gloo",
)  # fmt: skip
Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=Numbers()).train()
torch.distributed.destroy_process_group()
