"""What was seen of a training, as plain records: what observers write, a run keeps and rules read. No torch."""
