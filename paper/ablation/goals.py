"""What the errors of the ablation are compared with."""

from paper.published import TABLE_1, TABLE_2

GOALS = {
    (30, "darcy"): 0.065,
    (30, "nonlinear_diffusion"): 0.037,
    (30, "eikonal"): 0.045,
    (30, "advection"): 0.085,
    (100, "darcy"): 0.014,
    (100, "nonlinear_diffusion"): 0.008,
    (100, "eikonal"): 0.035,
    (100, "advection"): 0.0025,
}
"""By training samples and problem: half of the paper's error, and less where closed forms are good."""


def paper_error(num_train: int, problem: str) -> float:
    """Return the error of GOLA that the paper prints."""
    return {30: TABLE_1, 100: TABLE_2}[num_train][problem]["gola"]
