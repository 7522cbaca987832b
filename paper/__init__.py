"""The paper's tables and figures, done again: which runs they need, and our numbers beside the printed ones."""
