"""Answers about the masses and inertias of the bodies of a scene."""

from cardan.schemas.base import Base
from cardan.schemas.quantities import Finite, FiniteVec3


class BodyMass(Base):
    """How a dynamic body resists to be moved."""

    body: str
    """Its name."""
    mass: Finite
    """[kg]."""
    center_of_mass: FiniteVec3
    """In the body [m]."""
    inertia: tuple[Finite, Finite, Finite, Finite, Finite, Finite]
    """xx, yy, zz, xy, xz, yz about the centre of mass, in the axes of the body [kg m^2]."""
    principal_moments: FiniteVec3
    """Ascending [kg m^2]."""
    principal_axes: tuple[Finite, Finite, Finite, Finite]
    """[w, x, y, z]: turns the principal axes, in the order of moments, into those of the body."""
    box: FiniteVec3
    """Sides of the solid box of this mass and inertia, along the principal axes [m]."""


class MassesAnswer(Base):
    """Masses and inertias, as the shapes make them or as the scene gives them."""

    bodies: list[BodyMass]
    """Dynamic bodies, in the order of the scene."""
