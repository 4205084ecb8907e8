"""Which bodies of a scene are not always there."""

OPS = ("appear", "vanish")
