"""What `bench/overhead.py` compares: trainings (works.py) and what each arm adds (arms.py); and the figures."""
