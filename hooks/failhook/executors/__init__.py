"""Where tasks run: each host's own way to say how they end, as evidence. None imports another."""
