"""EZyRB and SMT, as their documentation shows them, on standardised parameters."""

import warnings

import numpy as np

from benchmarks.engineering.references import NUM_OWN, Table, covariance, determined
from gola.extras import require

# Share of the squared singular values that POD keeps where one Gaussian process models all coefficients.
ENERGY = 0.99999


def ezyrb_rbf(seen: Table, snapshots: Table, asked: Table) -> Table:
    """POD of full rank and thin-plate splines by EZyRB."""
    ezyrb = require("ezyrb", extra="benchmarks", what="The comparison with EZyRB")
    return _ezyrb(-1, ezyrb.RBF(kernel=determined("thin_plate_spline", seen)), seen, snapshots, asked)


def ezyrb_gpr(seen: Table, snapshots: Table, asked: Table) -> Table:
    """POD and one Gaussian process for all coefficients by EZyRB; its own kernel would not be adapted to the data."""
    ezyrb = require("ezyrb", extra="benchmarks", what="The comparison with EZyRB")
    regression = ezyrb.GPR(kern=covariance(seen), optimization_restart=3)
    # All coefficients count alike in the likelihood, so those that are mostly noise are left out.
    return _ezyrb(ENERGY, regression, seen, snapshots, asked)


def _ezyrb(rank: float, regression: object, seen: Table, snapshots: Table, asked: Table) -> Table:
    ezyrb = require("ezyrb", extra="benchmarks", what="The comparison with EZyRB")
    model = ezyrb.ReducedOrderModel(ezyrb.Database(seen, snapshots), ezyrb.POD(rank=rank), regression)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # length-scales at the ends of their ranges
        found = model.fit().predict(asked)
    return np.asarray(getattr(found, "snapshots_matrix", found))


def smt_kriging(seen: Table, values: Table, asked: Table) -> Table:
    """Kriging of POD coefficients by SMT: each of the first with length-scales of its own, the others together."""
    models = require("smt.surrogate_models", extra="benchmarks", what="The comparison with SMT")
    groups = [values[:, [column]] for column in range(min(NUM_OWN, values.shape[1]))] + [values[:, NUM_OWN:]]
    columns = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for group in groups:
            if group.shape[1]:
                model = models.KRG(theta0=[1e-2] * seen.shape[1], corr="matern52", n_start=2, print_global=False)
                model.set_training_values(seen, group)
                model.train()
                columns.append(model.predict_values(asked).reshape(len(asked), -1))
    return np.concatenate(columns, axis=1)
