"""Find the materials and loads of a heated block that give a wanted temperature, by gradients through a surrogate.

A surrogate is fitted to simulations of blocks of nine materials under three loads. Its predictions are a differentiable
function of these twelve numbers, so an optimiser finds numbers whose predicted field is nearest to a wanted one. The
solver tells how near it really is, and its answer joins the simulations for the next round. Run it with ``python
examples/inverse_design.py``.
"""

import argparse

import numpy as np
import torch

import gola
from gola.problems import make_problem


def found_parameters(
    surrogate: gola.Surrogate, points: np.ndarray, wanted: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Return parameters within bounds whose predicted field is nearest to the wanted one."""
    module = surrogate.differentiable()
    places, target = torch.from_numpy(points), torch.from_numpy(wanted)
    low, high = torch.from_numpy(lower), torch.from_numpy(upper)
    # A sigmoid keeps parameters within their bounds.
    free = torch.zeros(len(lower), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([free], max_iter=100, line_search_fn="strong_wolfe")

    def parameters() -> torch.Tensor:
        return low + (high - low) * torch.sigmoid(free)

    def misfit() -> torch.Tensor:
        optimiser.zero_grad()
        loss = (module(places, None, parameters()) - target).square().mean() / target.square().mean()
        loss.backward()
        return loss

    optimiser.step(misfit)
    return parameters().detach().numpy()


def main(num_train: int, num_rounds: int) -> None:
    """Fit, search, and ask the solver whether the field is what was wanted."""
    problem = make_problem("block_heat", resolution=4)
    *samples, goal = problem.generate(0, range(num_train + 1))
    table = np.stack([sample.parameters for sample in samples])
    lower, upper = table.min(axis=0), table.max(axis=0)

    def distance(sample: gola.Sample) -> float:
        return float(np.linalg.norm(sample.targets - goal.targets) / np.linalg.norm(goal.targets))

    print(f"nearest of {num_train} simulations: {100 * min(map(distance, samples)):.1f} % from the wanted field")
    # A surrogate is to be trusted near simulations. So the search stays in a box around the nearest one, which is
    # halved whenever the solver says that the last step was none forward.
    reach = (upper - lower) / 2
    for number in range(1, num_rounds + 1):
        nearest = min(samples, key=distance)
        train = gola.Dataset.from_samples(samples, targets=problem.targets, parameters=problem.parameters)
        surrogate = gola.fit(train, "pod_gp", progress=False)
        box = np.maximum(lower, nearest.parameters - reach), np.minimum(upper, nearest.parameters + reach)
        solved = problem.simulate(found_parameters(surrogate, goal.points, goal.targets, *box))
        samples.append(solved)
        if distance(solved) >= distance(nearest):
            reach = reach / 2
        print(
            f"round {number}, found by the surrogate and solved: {100 * distance(solved):.1f} % from the wanted field"
        )
    for channel, value in zip(problem.parameters, min(samples, key=distance).parameters, strict=True):
        print(f"{channel.name:16s} {value:9.4g} {channel.unit}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num-train", type=int, default=60)
    parser.add_argument("--num-rounds", type=int, default=6)
    options = parser.parse_args()
    main(options.num_train, options.num_rounds)
