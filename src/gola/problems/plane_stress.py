"""Linear elasticity of a thin plate: displacement and stress under loads on its outline."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from jaxtyping import Float
from scipy.sparse import block_array, csr_array

from gola.problems.finite_elements import (
    element_mesh,
    facets_between,
    node_weights,
    scikit_fem,
    solve_positive_definite,
)
from gola.problems.meshing import TriangleMesh

StressField = Callable[[Float[np.ndarray, "point 2"]], Float[np.ndarray, "point 3"]]
"""Maps points to the stresses σxx, σyy, σxy."""

# The corners of scikit-fem's reference triangle, taken as places of evaluation.
_CORNERS = (np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.full(3, 1.0 / 6.0))


@final
@dataclass(frozen=True, kw_only=True)
class Material:
    """An isotropic, linearly elastic material.

    Attributes:
        young: Young's modulus E, in Pa.
        poisson: Poisson's ratio ν.
    """

    young: float
    poisson: float

    def __post_init__(self) -> None:
        if not (self.young > 0.0 and -1.0 < self.poisson <= 0.5):
            raise ValueError(
                f"A material needs young > 0 and -1 < poisson <= 0.5; got young={self.young}, poisson={self.poisson}."
            )

    @property
    def stiffness(self) -> Float[np.ndarray, "3 3"]:
        """The matrix from strains (εxx, εyy, 2εxy) to stresses (σxx, σyy, σxy) in plane stress."""
        factor = self.young / (1.0 - self.poisson**2)
        shear = 0.5 * (1.0 - self.poisson)
        return factor * np.array([[1.0, self.poisson, 0.0], [self.poisson, 1.0, 0.0], [0.0, 0.0, shear]])


def solve_plane_stress(
    mesh: TriangleMesh, material: Material, applied_stress: StressField
) -> tuple[Float[np.ndarray, "point 2"], Float[np.ndarray, "point 3"]]:
    r"""Solve ∇·σ = 0 with given tractions on the outline and free holes, for displacement and stress at the nodes.

    The traction on the outline is σ∞ n with the applied stress σ∞ and the outward normal n. An applied stress in
    equilibrium (symmetric, ∇·σ∞ = 0) loads the plate without a net force or moment. Such a load leaves a rigid motion
    open; the one taken has no mean displacement and no mean rotation.

    Quadratic elements, so that the stress, which is their gradient, is still of second order. At a node it is the mean
    over the triangles around.
    """
    skfem = scikit_fem()
    basis = skfem.Basis(element_mesh(mesh.points, mesh.cells), skfem.ElementTriP2(), intorder=2)
    matrix = _stiffness_matrix(basis, material)
    right_side = _traction_load(basis, mesh, applied_stress)
    # Three held components stop rigid motions; a load in equilibrium puts no force on them.
    far = int(np.argmax(np.abs(mesh.points[:, 0] - mesh.points[0, 0])))
    free = np.setdiff1d(np.arange(2 * basis.N), [0, basis.N, basis.N + far])
    solution = np.zeros(2 * basis.N)
    solution[free] = solve_positive_definite(matrix[free][:, free], right_side[free])
    components = solution.reshape(2, basis.N)
    displacement = components[:, : len(mesh.points)].T
    weights = node_weights(mesh.points, mesh.cells)
    return without_rigid_motion(mesh.points, displacement, weights), _nodal_stress(basis, components, material)


def von_mises(stress: Float[np.ndarray, "point 3"]) -> Float[np.ndarray, " point"]:
    """Return the equivalent stress √(σxx² − σxx σyy + σyy² + 3 σxy²)."""
    xx, yy, xy = stress.T
    return np.sqrt(xx**2 - xx * yy + yy**2 + 3.0 * xy**2)


def without_rigid_motion(
    points: Float[np.ndarray, "point 2"],
    displacement: Float[np.ndarray, "point 2"],
    weights: Float[np.ndarray, " point"],
) -> Float[np.ndarray, "point 2"]:
    """Subtract the rigid motion that is nearest to the displacement in the weighted least-squares sense."""
    shares = weights / weights.sum()
    arms = points - shares @ points
    relative = displacement - shares @ displacement
    turned = np.stack([-arms[:, 1], arms[:, 0]], axis=1)
    rotation = (shares @ (turned * relative).sum(axis=1)) / (shares @ (arms**2).sum(axis=1))
    return relative - rotation * turned


def _stiffness_matrix(basis: Any, material: Material) -> csr_array:
    """Assemble ∫ ε(v)ᵀ C ε(u), the components of u and v one after the other.

    The material is the same everywhere, so three scalar matrices make up all blocks, at a fraction of what the
    assembly with vector-valued elements costs.
    """

    def products(i: int, j: int) -> csr_array:
        return csr_array(scikit_fem().BilinearForm(lambda u, v, _: u.grad[j] * v.grad[i]).assemble(basis))

    xx, yy, xy = products(0, 0), products(1, 1), products(0, 1)
    (direct, cross, _), _, (_, _, shear) = material.stiffness
    blocks = [
        [direct * xx + shear * yy, cross * xy + shear * xy.T],
        [cross * xy.T + shear * xy, direct * yy + shear * xx],
    ]
    return csr_array(block_array(blocks))


def _traction_load(basis: Any, mesh: TriangleMesh, applied_stress: StressField) -> Float[np.ndarray, " unknown"]:
    """Assemble ∫ v · σ∞ n over the outline."""
    skfem = scikit_fem()
    outline = facets_between(basis.mesh, mesh.loops[0])
    # Applied stresses are linear at most in the problems here, and quadratic elements make the integrand cubic.
    facets = skfem.FacetBasis(basis.mesh, basis.elem, facets=outline, intorder=4)
    places = np.asarray(facets.global_coordinates())
    xx, yy, xy = applied_stress(places.reshape(2, -1).T).T.reshape(3, *places.shape[1:])
    normal_x, normal_y = np.asarray(facets.normals)
    tractions = (xx * normal_x + xy * normal_y, xy * normal_x + yy * normal_y)
    load = skfem.LinearForm(lambda v, w: w.traction * v)
    return np.concatenate([load.assemble(facets, traction=traction) for traction in tractions])


def _nodal_stress(
    basis: Any, components: Float[np.ndarray, "2 unknown"], material: Material
) -> Float[np.ndarray, "point 3"]:
    """Average the stresses of the triangles around each node."""
    corners = scikit_fem().Basis(basis.mesh, basis.elem, quadrature=_CORNERS)
    slope_x, slope_y = (np.asarray(corners.interpolate(component).grad) for component in components)
    strains = np.stack([slope_x[0], slope_y[1], slope_x[1] + slope_y[0]])
    stresses = np.einsum("ij,jcv->icv", material.stiffness, strains)
    nodes = basis.mesh.t.T.ravel()
    totals = np.stack([np.bincount(nodes, stress.ravel()) for stress in stresses], axis=1)
    return totals / np.bincount(nodes)[:, None]
