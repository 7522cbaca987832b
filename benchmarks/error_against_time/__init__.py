"""Error against fitting time: every operator, and what else people use, on the same splits of six kinds of problems."""
