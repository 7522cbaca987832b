"""What was chosen where the paper says nothing, and what we do otherwise, in words."""

from gola.report.page import Table
from gola.runs import RunConfig
from paper.contenders import Contender
from paper.protocol import TITLES
from paper.store import Store


def differences(store: Store) -> list[str]:
    """Return what differs from the paper, a paragraph each."""
    protocol = store.protocol
    return [
        f"**Data.** The paper's data are not public. Ours follow the definitions that the same group published"
        f" (arXiv 2502.02682): {protocol.num_samples} samples of each problem, generator seed {protocol.data_seed};"
        " presets were chosen on samples of seed 0, which no run here touches. A seed of a run draws the training and"
        " test samples, their points, and the initial weights. How near the data are to the paper's can be read from"
        " FNO, whose settings are published: see its ratio in Table 1.",
        "**Evaluation.** Statistics for normalisation come from the training samples alone, and test samples choose"
        " nothing: no epoch, no setting, no seed. How the paper chose its epoch is not said; its group's earlier work"
        " took the best epoch on the test samples. Networks learn from all training samples, none is set aside, and the"
        " last epoch counts.",
        "**The operator.** The paper leaves open what one needs to run GOLA. `gola/paper` is the reading that has"
        " exactly its number of parameters; `gola` is smaller and was chosen by cross-validation on training samples.",
        "**The same points for all.** The paper gives GCN, DeepONet and FNO the full grid, and GKN and GOLA"
        f" {protocol.num_points} of its points. Table 1 has these rows, and further ones in which they see the same"
        f" {protocol.num_points} points: FNO and DeepONet through interpolation to their grid or sensors.",
        "**Something to beat.** Closed-form operators, which the paper does not have, stand in every table.",
    ]


def seeds_and_training(store: Store) -> Table:
    """Return how every operator is repeated and trained with this budget."""
    rows = [_row(store, one) for one in store.protocol.contenders]
    return Table(
        heading=["operator", "seeds", "length", "batch", "learning rate", "weight decay"],
        rows=rows,
        caption=f"Budget {store.budget.name}. AdamW, 10 % linear warm-up, then half a cosine to zero; gradients are"
        " shortened to norm 1; the loss is the mean relative L2 error in physical units. Seeds that were asked for;"
        " tables count those that there are.",
    )


def _row(store: Store, one: Contender) -> list[str]:
    seeds = f"{len(store.budget.seeds_of(one))}"
    run = RunConfig(data="", operator=one.operator)
    if not run.is_trained:
        return [one.title, seeds, "decides by itself" if run.takes_steps else "closed form", "–", "–", "–"]
    training = store.budget.training_of(one.operator, "")
    length = f"{training.num_steps} steps" if training.num_epochs is None else f"{training.num_epochs} epochs"
    name = one.operator.partition("/")[0]
    more = [
        f"{epochs} on {TITLES[problem]}"
        for (operator, problem), epochs in store.budget.longer.items()
        if operator == name
    ]
    batch = store.budget.dense_batches.get(one.operator)
    dense = "" if batch is None else f", {batch} at more than {store.protocol.num_points} points"
    changes = "".join(f", {setting}={value}" for setting, value in store.budget.settings.get(one.operator, {}).items())
    return [
        f"{one.title}{changes}",
        seeds,
        ", ".join([length, *more]),
        f"{training.batch_size}{dense}",
        f"{training.learning_rate:g}",
        f"{training.weight_decay:g}",
    ]
