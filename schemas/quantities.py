"""Numbers, vectors, quaternions, names: strict types that carry their rules into JSON Schema.

SI units, radians. A number is a JSON number: texts, booleans, NaN and Infinity are errors.
Magnitudes are kept within 1e50 (and positive ones above 1e-50), so that the squares and cubes a
simulation forms of them stay finite; stars and atoms fit in easily.
"""

import math
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

HUGE = 1e50
TINY = 1e-50
QUATERNION_TOLERANCE = 1e-3
ROUNDING = 1e-15

Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-HUGE, le=HUGE)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=TINY, le=HUGE)]
NonNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=HUGE)]
Fraction = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0, le=1.0)]
Boolean = Annotated[bool, Field(strict=True)]
# what is computed may be larger than what may be given
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Vec2Positive = tuple[Positive, Positive]
Vec3 = tuple[Number, Number, Number]
FiniteVec3 = tuple[Finite, Finite, Finite]
Vec3Positive = tuple[Positive, Positive, Positive]


def _whole(value: Any) -> Any:
    """Take 10.0 for 10, as JSON Schema does; leave everything else to the strict check."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53:
        return int(value)
    return value


Integer = Annotated[int, Field(strict=True, ge=-(2**53), le=2**53), BeforeValidator(_whole)]
Count = Annotated[int, Field(strict=True, ge=1, le=2**53), BeforeValidator(_whole)]
Index = Annotated[int, Field(strict=True, ge=0, le=2**53), BeforeValidator(_whole)]
# all bits of `collision_group`
ALL_GROUPS = 2**32 - 1
Bits32 = Annotated[int, Field(strict=True, ge=0, le=ALL_GROUPS), BeforeValidator(_whole)]


def _direction(value: tuple[float, float, float]) -> tuple[float, float, float]:
    """Refuse the zero vector; the length of a direction is otherwise of no account."""
    if math.hypot(*value) <= TINY:
        raise PydanticCustomError(
            "zero_axis", "The direction has length zero; a vector that is not zero is needed."
        )
    return value


Direction = Annotated[Vec3, AfterValidator(_direction)]


def _unit(value: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """Normalise a quaternion of nearly unit length; refuse any other."""
    length = math.hypot(*value)
    if abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise PydanticCustomError(
            "not_normalised",
            "The quaternion [w, x, y, z] has length {length}; 1 within 0.001 is needed.",
            {"length": f"{length:.6g}"},
        )
    if abs(length - 1.0) <= ROUNDING:
        return value
    w, x, y, z = value
    return (w / length, x / length, y / length, z / length)


QuaternionWXYZ = Annotated[
    tuple[Number, Number, Number, Number],
    AfterValidator(_unit),
    Field(description="Unit quaternion [w, x, y, z], body to world."),
]

NAME_PATTERN = r"^[^\x00-\x1f\x7f]+$"

Name = Annotated[
    str,
    StringConstraints(strict=True, min_length=1, max_length=200, pattern=NAME_PATTERN),
]
Text = Annotated[str, StringConstraints(strict=True, max_length=10_000)]


def _stiffness_tag(value: Any) -> str:
    return "union:list" if isinstance(value, (list, tuple)) else "union:number"


Stiffness = Annotated[
    Annotated[NonNegative, Tag("union:number")]
    | Annotated[tuple[NonNegative, Number, Number], Tag("union:list")],
    Discriminator(_stiffness_tag),
]
"""k, or [k1, k2, k3]: force k1 x + k2 |x| x + k3 x^3 (SI units of the coordinate)."""


def _colour(value: Any) -> Any:
    """Turn [r, g, b] of fractions into '#rrggbb'; leave texts to the pattern."""
    if not isinstance(value, (list, tuple)):
        return value
    numbers = [v for v in value if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(value) != 3 or len(numbers) != 3 or not all(0.0 <= v <= 1.0 for v in numbers):
        raise PydanticCustomError(
            "not_a_color", "A color is '#rrggbb', a name, or three fractions between 0 and 1."
        )
    return "#" + "".join(f"{round(255 * v):02x}" for v in numbers)


COLOR_PATTERN = r"^(#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|[a-z]{3,20})$"
Color = Annotated[
    str,
    StringConstraints(strict=True, pattern=COLOR_PATTERN),
    BeforeValidator(_colour),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": COLOR_PATTERN},
                {
                    "type": "array",
                    "items": {"type": "number", "minimum": 0, "maximum": 1},
                    "minItems": 3,
                    "maxItems": 3,
                },
            ]
        },
        mode="validation",
    ),
]
