"""What `bench/overhead.py` compares: the trainings (works.py), what each arm adds to them (arms.py), and the figures."""
