"""Which law the paper's nonlinear-diffusion data follow, judged by networks whose errors are published."""
