"""Steady incompressible flow in the plane, by Taylor–Hood elements and Newton's method."""

from typing import Any, final

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import block_array, csc_array, csr_array
from scipy.sparse.linalg import splu

from gola.problems.finite_elements import element_mesh, scikit_fem
from gola.problems.meshing import TriangleMesh

# Newton's method doubles the number of right digits, so a correction of this size leaves an error of rounding.
TOLERANCE = 1e-7
MAX_STEPS = 12


@final
class TaylorHood:
    r"""Continuous, piecewise quadratic velocity and linear pressure on a triangle mesh.

    The steady Navier–Stokes equations with viscosity ν are: find u and p with

    .. math:: \int \nu \nabla u : \nabla v + (u \cdot \nabla) u \cdot v - p \nabla \cdot v - q \nabla \cdot u = 0

    for all v and q that vanish where u and p are given. Where the velocity of a boundary is not given, this asks for
    ν ∂u/∂n = p n, the usual condition of an outflow.

    Unknowns are those of the velocity, then those of the pressure, which are its values at the nodes of the mesh.

    Args:
        mesh: The triangles.
    """

    def __init__(self, mesh: TriangleMesh) -> None:
        skfem = scikit_fem()
        elements = element_mesh(mesh.points, mesh.cells)
        self.velocity = skfem.Basis(elements, skfem.ElementVector(skfem.ElementTriP2()), intorder=5)
        self.pressure = self.velocity.with_element(skfem.ElementTriP1())
        self._viscous = csr_array(skfem.BilinearForm(_viscous_form).assemble(self.velocity))
        self._divergence = csr_array(skfem.BilinearForm(_divergence_form).assemble(self.velocity, self.pressure))

    @property
    def num_unknowns(self) -> int:
        """Number of unknowns of velocity and pressure."""
        return int(self.velocity.N + self.pressure.N)

    def velocity_on(self, facets: Int[np.ndarray, " facet"]) -> Int[np.ndarray, " unknown"]:
        """Return the unknowns of the velocity on boundary facets."""
        return np.asarray(self.velocity.get_dofs(facets).all())

    def at_nodes(self, state: Float[np.ndarray, " unknown"]) -> Float[np.ndarray, "point 3"]:
        """Return both components of the velocity, and the pressure, at the nodes of the mesh."""
        components = state[self.velocity.nodal_dofs]
        return np.column_stack([*components, state[self.velocity.N :]])

    def solve(
        self,
        viscosity: float,
        fixed: Int[np.ndarray, " fixed"],
        start: Float[np.ndarray, " unknown"],
    ) -> Float[np.ndarray, " unknown"]:
        """Solve by Newton's method.

        Args:
            viscosity: The viscosity ν.
            fixed: The unknowns that are given.
            start: The first guess, with the values of the fixed unknowns.

        Raises:
            ArithmeticError: If Newton's method does not converge; start nearer to the solution.
        """
        free = np.setdiff1d(np.arange(self.num_unknowns), fixed)
        state = start.copy()
        for _ in range(MAX_STEPS):
            residual, jacobian = self._linearised(viscosity, state)
            correction = _solve_saddle_point(jacobian[free][:, free], residual[free])
            state[free] -= correction
            if np.abs(correction).max() <= TOLERANCE * np.abs(state).max():
                return state
        raise ArithmeticError(
            f"Newton's method did not converge in {MAX_STEPS} steps at viscosity {viscosity:g}; start from the flow at"
            " a viscosity nearer to it."
        )

    def _linearised(
        self, viscosity: float, state: Float[np.ndarray, " unknown"]
    ) -> tuple[Float[np.ndarray, " unknown"], csr_array]:
        """Return the residual of the equations and its derivative."""
        velocity, pressure = np.split(state, [self.velocity.N])
        skfem = scikit_fem()
        flow = self.velocity.interpolate(velocity)
        convection = skfem.LinearForm(_convection_form).assemble(self.velocity, flow=flow)
        derivative = csr_array(skfem.BilinearForm(_convection_derivative_form).assemble(self.velocity, flow=flow))
        momentum = viscosity * (self._viscous @ velocity) + convection + self._divergence.T @ pressure
        blocks: list[list[csr_array | None]] = [
            [viscosity * self._viscous + derivative, csr_array(self._divergence.T)],
            [self._divergence, None],
        ]
        return np.concatenate([momentum, self._divergence @ velocity]), csr_array(block_array(blocks))


def _viscous_form(u: Any, v: Any, _: Any) -> Float[np.ndarray, "cell place"]:
    return np.einsum("ij...,ij...", u.grad, v.grad)


def _divergence_form(u: Any, q: Any, _: Any) -> Float[np.ndarray, "cell place"]:
    return -(u.grad[0, 0] + u.grad[1, 1]) * q


def _convection_form(v: Any, w: Any) -> Float[np.ndarray, "cell place"]:
    return np.einsum("j...,ij...,i...", w.flow, w.flow.grad, v)


def _convection_derivative_form(u: Any, v: Any, w: Any) -> Float[np.ndarray, "cell place"]:
    change = np.einsum("j...,ij...->i...", w.flow, u.grad) + np.einsum("j...,ij...->i...", u, w.flow.grad)
    return np.einsum("i...,i...", change, v)


def _solve_saddle_point(matrix: csr_array, right_side: Float[np.ndarray, " unknown"]) -> Float[np.ndarray, " unknown"]:
    factors = splu(
        csc_array(matrix),
        # The pattern is symmetric. Small pivots are allowed, which keeps the factors sparse: Newton's method corrects
        # what is lost. The zeros on the diagonal of the pressure fill up before their turn comes.
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.01,
        options={"SymmetricMode": True},
    )
    solution: Float[np.ndarray, " unknown"] = factors.solve(right_side)
    return solution
