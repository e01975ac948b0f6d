"""Tags the tokens of made sentences with a tiny BERT and the Trainer."""
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForTokenClassification, Trainer, TrainingArguments, set_seed
from transformers.trainer_callback import PrinterCallback

TAGS = ["O", "B-NAME", "I-NAME", "B-PLACE", "I-PLACE"]


class Sentences(Dataset):
    def __init__(self, count, seed, length=12):
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(2, 50, (count, length), generator=generator)
        self.tags = (self.ids - 2) * len(TAGS) // 48

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "attention_mask": torch.ones(12, dtype=torch.long), "labels": self.tags[index]}


def make_model():
    config = BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=16, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        num_labels=len(TAGS) - 1,
    )
    return BertForTokenClassification(config)


def compute_metrics(prediction):
    guess = prediction.predictions.argmax(-1)
    return {"accuracy": float((guess == prediction.label_ids).mean())}


def main():
    set_seed(4)
    arguments = TrainingArguments(
        output_dir="out", per_device_train_batch_size=16, num_train_epochs=3, learning_rate=5e-3, report_to=[],
        use_cpu=True, disable_tqdm=True, save_strategy="no", logging_strategy="no",
    )
    trainer = Trainer(
        model=make_model(), args=arguments, train_dataset=Sentences(320, 0), eval_dataset=Sentences(64, 1),
        compute_metrics=compute_metrics,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    print(f"accuracy {trainer.evaluate()['eval_accuracy']:.4f}")


if __name__ == "__main__":
    main()
