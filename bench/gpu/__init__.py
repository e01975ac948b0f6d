"""The checks of bench/gpu_record.py: devices (what needs a GPU), truth (what must hold anywhere), cost."""
