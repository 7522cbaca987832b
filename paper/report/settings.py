"""What differs from the paper and what was chosen where it says nothing, in words."""

from gola.protocol import TrainingConfig
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
        " presets were chosen on samples of seed 0, which no run here uses. The seed of a run decides the split into"
        " training and test samples, the points and the initial weights. How close the data are to the paper's can be"
        " seen from FNO, whose settings are published: see its ratio in Table 1.",
        "**Evaluation.** Statistics for normalisation come from the training samples alone, and test samples choose"
        " nothing: no epoch, no setting, no seed. The paper does not say how it chose its epoch; its group's earlier"
        " work took the best epoch on the test samples. Networks learn from all training samples, none is set aside,"
        " and the last epoch counts.",
        "**The operator.** The paper leaves some settings of GOLA open. `gola/paper` is the reading that has"
        " exactly its number of parameters; `gola` is smaller and was chosen by cross-validation on training samples.",
        "**The same points for all.** The paper gives GCN, DeepONet and FNO the full grid, and GKN and GOLA"
        f" {protocol.num_points} of its points. Table 1 has these rows, and further ones in which they see the same"
        f" {protocol.num_points} points: FNO and DeepONet through interpolation to their grid or sensors.",
        "**Baselines.** Closed-form operators, which the paper does not have, stand in every table.",
    ]


def seeds_and_training(store: Store) -> Table:
    """Return how every operator is repeated and trained with this budget."""
    rows = [_row(store, contender) for contender in store.protocol.contenders]
    return Table(
        heading=["operator", "seeds", "length", "batch", "learning rate", "weight decay"],
        rows=rows,
        caption=f"Budget {store.budget.name}. AdamW, 10 % linear warm-up, then half a cosine to zero; gradients are"
        " clipped to norm 1; the loss is the mean relative L2 error in physical units. Seeds that were asked for;"
        " tables count those that there are.",
    )


def _row(store: Store, contender: Contender) -> list[str]:
    seeds = f"{len(store.budget.seeds_of(contender))}"
    run = RunConfig(data="", operator=contender.operator)
    if not run.heeds("training"):
        length = "chosen automatically" if run.heeds("session") else "closed form"
        return [contender.title, seeds, length, "–", "–", "–"]
    training = store.budget.training_of(contender.operator, "")
    length = _length(store, training)
    name = contender.operator.partition("/")[0]
    more = [
        f"{epochs} on {TITLES[problem]}"
        for (operator, problem), epochs in store.budget.longer.items()
        if operator == name
    ]
    others = [
        f"at {words} points {one.num_steps} steps of {one.batch_size}, rate {one.learning_rate:g}"
        for words, trainings in (("fewer", store.budget.sparse), ("more", store.budget.dense))
        for operator, one in trainings.items()
        if operator == contender.operator
    ]
    changes = "".join(
        f", {setting}={value}" for setting, value in store.budget.settings.get(contender.operator, {}).items()
    )
    return [
        f"{contender.title}{changes}",
        seeds,
        "; ".join([", ".join([length, *more]), *others]),
        f"{training.batch_size}",
        " or ".join(f"{rate:g}" for rate in training.rates or (training.learning_rate,)),
        f"{training.weight_decay:g}",
    ]


def _length(store: Store, training: TrainingConfig) -> str:
    if training.num_epochs is not None:
        return f"{training.num_epochs} epochs"
    if store.budget.samples is None:
        return f"{training.num_steps} steps"
    return f"{training.num_steps} steps for {store.budget.samples} samples, others by the square root"
