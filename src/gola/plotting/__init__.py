"""Pictures: the only place where Matplotlib is imported."""
