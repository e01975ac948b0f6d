"""Several processes: ranks, replicas, samplers."""
