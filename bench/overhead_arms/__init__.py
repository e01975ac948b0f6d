"""What `bench/overhead.py` runs side by side: one training script, train.py, and what arms.py adds to it."""
