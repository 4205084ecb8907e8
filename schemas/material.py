"""Surface materials, and how a named pair of them behaves."""

from schemas.base import Base
from schemas.quantities import Fraction, Name, NonNegative, Vec3


class Material(Base):
    """What a surface contributes to a contact.

    A pair combines by geometric mean (friction) and maximum (restitution) unless
    `material_pairs` says otherwise.
    """

    friction: NonNegative = 0.5
    """Coulomb coefficient mu [-]."""
    rolling_friction: NonNegative = 0.0
    """Lever arm of the rolling resistance [m]."""
    spinning_friction: NonNegative = 0.0
    """Lever arm of the resistance to turning about the normal [m]."""
    restitution: Fraction = 0.0
    """Speed after over speed before an impact [-]."""
    compliance: NonNegative = 0.0
    """Penetration per normal force; 0 is rigid [m/N]."""
    damping: NonNegative = 0.0
    """Normal damping of a compliant contact [N s/m]."""
    surface_velocity: Vec3 = (0.0, 0.0, 0.0)
    """Velocity of the surface itself, in the body's axes: conveyor belts [m/s]."""


class MaterialPair(Base):
    """Overrides the combination of two materials; what is left out combines as usual."""

    materials: tuple[Name, Name]
    """The two materials, in any order; both may be the same."""
    friction: NonNegative | None = None
    """Coulomb coefficient of this pair [-]."""
    restitution: Fraction | None = None
    """Restitution of this pair [-]."""
