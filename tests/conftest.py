import os

# Two test processes with two spinning OpenMP threads each would fight over two cores; so would programs they start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

torch.set_num_threads(1)
