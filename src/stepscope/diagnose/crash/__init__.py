"""What a crash says: its frames and their tensors, the operation that failed, the layer it failed in, and the cause."""
