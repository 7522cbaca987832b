"""Numbers that others have printed, as data: nothing here is computed, and nothing here is ours.

"The paper" is *Graph-Based Operator Learning from Limited Data on Irregular Domains* (Li and Zhe, 2025,
arXiv 2505.18923). All numbers are relative L2 errors on 100 test samples unless said otherwise. Its appendix names
further tables (sizes 10 to 100, densities 20 to 1000), but their text holds no numbers.
"""

from collections.abc import Mapping

PROBLEMS = ("darcy", "advection", "eikonal", "nonlinear_diffusion")
"""The paper's four problems, in the order of its tables."""

SIZES = (5, 10, 20, 30, 40, 50, 80, 100)
"""Numbers of training samples of its figures (section 5)."""

DENSITIES = (20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
"""Numbers of points of its figures (section 5)."""

NUM_PARAMETERS = 2_900_249
"""Of its GOLA (section 5, "Time Complexity and Memory Cost")."""

TABLE_1: Mapping[str, Mapping[str, float]] = {
    "darcy": {"gcn": 1.3902, "deeponet": 0.4163, "fno": 0.1678, "gkn": 0.2375, "gola": 0.1554},
    "advection": {"gcn": 0.9620, "deeponet": 0.3925, "fno": 0.3873, "gkn": 0.5353, "gola": 0.3707},
    "eikonal": {"gcn": 0.2120, "deeponet": 0.1442, "fno": 0.0874, "gkn": 0.1530, "gola": 0.0803},
    "nonlinear_diffusion": {"gcn": 0.2703, "deeponet": 0.2468, "fno": 0.0793, "gkn": 0.1520, "gola": 0.0747},
}
"""Table 1: 30 training samples; GCN, DeepONet and FNO on the full 128 × 128 grid, GKN and GOLA at 1000 points."""

TABLE_2: Mapping[str, Mapping[str, float]] = {
    "darcy": {"gkn": 0.1748, "gola": 0.1147},
    "advection": {"gkn": 0.2886, "gola": 0.2290},
    "eikonal": {"gkn": 0.1168, "gola": 0.0611},
    "nonlinear_diffusion": {"gkn": 0.1044, "gola": 0.0439},
}
"""Table 2: 100 training samples, 1000 points."""

ERROR_REDUCTIONS: Mapping[str, float] = {
    "darcy": 0.3438,
    "advection": 0.2065,
    "eikonal": 0.4769,
    "nonlinear_diffusion": 0.5795,
}
"""Table 2, last column: 1 − GOLA / GKN, as a share."""

TABLE_3: Mapping[str, Mapping[int, float]] = {
    "darcy": {20: 0.4269, 500: 0.1433, 1000: 0.1147},
    "advection": {20: 0.3980, 500: 0.2462, 1000: 0.2290},
    "eikonal": {20: 0.1236, 500: 0.0671, 1000: 0.0611},
    "nonlinear_diffusion": {20: 0.2030, 500: 0.0637, 1000: 0.0439},
}
"""Table 3: GOLA, 100 training samples, by the number of points in training and testing."""

TABLE_4: Mapping[str, Mapping[int, float]] = {
    "darcy": {100: 0.2419, 500: 0.1304, 1000: 0.1147, 2000: 0.0990, 4000: 0.0913},
    "advection": {100: 0.3757, 500: 0.2535, 1000: 0.2290, 2000: 0.2239, 4000: 0.2181},
    "eikonal": {100: 0.0819, 500: 0.0687, 1000: 0.0611, 2000: 0.0610, 4000: 0.0604},
    "nonlinear_diffusion": {100: 0.0945, 500: 0.0501, 1000: 0.0439, 2000: 0.0417, 4000: 0.0415},
}
"""Table 4: GOLA, 100 training samples, trained at 1000 points, by the number of points in testing."""

TABLE_5: Mapping[str, Mapping[int, float]] = {
    "darcy": {20: 0.2005, 40: 0.1112, 60: 0.0905, 80: 0.0863, 100: 0.0724},
    "advection": {20: 0.4790, 40: 0.3381, 60: 0.3184, 80: 0.2380, 100: 0.1952},
    "eikonal": {20: 0.1112, 40: 0.0934, 60: 0.0762, 80: 0.0673, 100: 0.0667},
    "nonlinear_diffusion": {20: 0.0599, 40: 0.0400, 60: 0.0342, 80: 0.0312, 100: 0.0302},
}
"""Table 5: GOLA at 4000 points, by the number of training samples."""

PPI_NO_FNO: Mapping[str, Mapping[int, float]] = {
    "darcy": {5: 0.4915, 10: 0.3870, 20: 0.2783, 30: 0.1645},
    "advection": {20: 0.4872, 30: 0.4035, 50: 0.3019, 80: 0.2482},
    "eikonal": {5: 0.2102, 10: 0.1562, 20: 0.0981, 30: 0.0843},
    "nonlinear_diffusion": {5: 0.2004, 10: 0.1242, 20: 0.0876, 30: 0.0551},
}
"""FNO on the 128 × 128 grid, by the number of training samples, from the same group's earlier work on pseudo-physics
informed operators (PPI-NO, arXiv 2502.02682): mean of five training sets, each at its best epoch ON THE TEST SAMPLES,
which flatters it. We never choose by test samples."""

PPI_NO_DEEPONET: Mapping[str, Mapping[int, float]] = {
    "darcy": {5: 0.8678, 10: 0.6854, 20: 0.5841, 30: 0.5672},
    "advection": {20: 0.5795, 30: 0.4810, 50: 0.3882, 80: 0.3164},
    "eikonal": {5: 0.3374, 10: 0.1759, 20: 0.1191, 30: 0.1096},
    "nonlinear_diffusion": {5: 0.3010, 10: 0.2505, 20: 0.1726, 30: 0.1430},
}
"""DeepONet, from the same table of PPI-NO."""
