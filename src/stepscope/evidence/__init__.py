"""What was seen of a training, as plain records: what observers write, the run folder keeps and rules read. No torch."""
