"""A Trainer subclass with its own loss for a tiny GPT-2."""
import torch
import torch.nn.functional as F
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
from transformers.trainer_callback import PrinterCallback

VOCAB, LENGTH = 16, 24


class Walks(Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        start = torch.randint(0, VOCAB, (count, 1), generator=generator)
        steps = torch.randint(1, 3, (count, LENGTH), generator=generator)
        self.ids = (start + steps.cumsum(1)) % VOCAB

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


class SmoothedTrainer(Trainer):
    def __init__(self, *args, smoothing=0.05, **kwargs):
        super().__init__(*args, **kwargs)
        self.smoothing = smoothing

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        outputs = model(input_ids=inputs["input_ids"])
        logits, targets = outputs.logits, labels
        loss = F.cross_entropy(
            logits.reshape(-1, VOCAB), targets.reshape(-1), label_smoothing=self.smoothing
        )
        return (loss, outputs) if return_outputs else loss


def make_model():
    config = GPT2Config(
        vocab_size=VOCAB, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, tie_word_embeddings=False,
    )
    return GPT2LMHeadModel(config)


def main():
    set_seed(1)
    arguments = TrainingArguments(
        output_dir="out", per_device_train_batch_size=16, num_train_epochs=2, learning_rate=5e-3, report_to=[],
        use_cpu=True, disable_tqdm=True, save_strategy="no", logging_strategy="no", weight_decay=0.01,
    )
    trainer = SmoothedTrainer(model=make_model(), args=arguments, train_dataset=Walks(640, 0), eval_dataset=Walks(64, 1))
    trainer.remove_callback(PrinterCallback)
    result = trainer.train()
    print(f"train {result.training_loss:.4f} eval {trainer.evaluate()['eval_loss']:.4f}")


if __name__ == "__main__":
    main()
