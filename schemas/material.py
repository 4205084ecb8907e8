"""Surface materials, and how a named pair of them behaves."""

from cardan.schemas.base import Base
from cardan.schemas.quantities import Fraction, Name, NonNegative, Positive, Vec3


class Material(Base):
    """What a surface contributes to a contact.

    Unless `material_pairs` says otherwise, a pair combines by geometric mean (friction, static
    friction), maximum (restitution, rolling and spinning friction) and sum (compliance); dampers
    count by the share of the compliance they belong to, damping = sum of d_i (c_i / c)^2; both
    surfaces move. Stiffness per area combines like springs in series, its dampers by their share of
    1 / stiffness_per_area.
    """

    friction: NonNegative = 0.5
    """Coulomb coefficient mu; with `static_friction` that of surfaces that slide [-]."""
    static_friction: NonNegative | None = None
    """Coefficient of surfaces that stick, or slide slower than 0.1 mm/s; not below `friction`.
    None: `friction` [-]."""
    rolling_friction: NonNegative = 0.0
    """Lever arm of the rolling resistance [m]."""
    spinning_friction: NonNegative = 0.0
    """Lever arm of the resistance to turning about the normal [m]."""
    restitution: Fraction = 0.0
    """Speed after over speed before an impact of rigid surfaces [-]."""
    compliance: NonNegative = 0.0
    """Penetration per normal force at each contact point; 0 is rigid [m/N]."""
    damping: NonNegative = 0.0
    """Normal damping of a compliant contact; rigid ones have none [N s/m]."""
    stiffness_per_area: Positive | None = None
    """Pressure per depth: each contact yields by this times its area. None: rigid [N/m^3]."""
    damping_per_area: NonNegative = 0.0
    """Pressure per normal speed, where there is a stiffness per area [N s/m^3]."""
    surface_velocity: Vec3 = (0.0, 0.0, 0.0)
    """Velocity of the surface over its body, in the body's axes: conveyor belts [m/s]."""


def static_friction(material: Material) -> float:
    """Coefficient of a surface that sticks [-]."""
    given = material.static_friction
    return material.friction if given is None else given


class MaterialPair(Base):
    """Overrides the combination of two materials; what is left out combines as usual."""

    materials: tuple[Name, Name]
    """The two materials, in any order; both may be the same."""
    friction: NonNegative | None = None
    """Coulomb coefficient of this pair [-]."""
    static_friction: NonNegative | None = None
    """Coefficient of this pair while it sticks; none: `friction` of this pair if given [-]."""
    restitution: Fraction | None = None
    """Restitution of this pair [-]."""
    rolling_friction: NonNegative | None = None
    """Lever arm of the rolling resistance of this pair [m]."""
    spinning_friction: NonNegative | None = None
    """Lever arm of the resistance to turning about the normal, of this pair [m]."""
    compliance: NonNegative | None = None
    """Penetration per normal force of this pair; 0 is rigid [m/N]."""
    damping: NonNegative | None = None
    """Normal damping of this pair where it is compliant [N s/m]."""
    stiffness_per_area: Positive | None = None
    """Pressure per depth of this pair [N/m^3]."""
    damping_per_area: NonNegative | None = None
    """Pressure per normal speed of this pair, where it has a stiffness per area [N s/m^3]."""
