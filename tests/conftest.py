import os
import signal

# Two test processes with two spinning OpenMP threads each would fight over two cores; so would programs they start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

torch.set_num_threads(1)

# A shell starts programs in the background with Ctrl-C ignored, and all that they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
