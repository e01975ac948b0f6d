"""Jobs of very many ranks: what a node's leader keeps of the ranks whose full logs stay on that node."""
