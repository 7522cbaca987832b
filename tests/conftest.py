import torch

# Two test processes with two spinning OpenMP threads each would fight over two cores.
torch.set_num_threads(1)
