"""What the tables of the comparison hold, and what is said below them."""

from benchmarks.contacts.report import OURS, Page, Rows, as_good, verdict

COLUMNS = {
    "us": "µs/step",
    "ratio": "of the fastest peer",
    "energy_error": "largest energy error",
    "energy_end": "energy error at the end",
    "apart_mm": "joints apart [mm]",
    "contacts": "contacts",
    "depth_mm": "depth [mm]",
    "energy_left_j": "energy left [J]",
}
# what an engine that keeps the energy may cost at most, in steps of semi-implicit Euler
PRICE = 2.0


def remarks(name: str, rows: Rows) -> list[str]:
    """Our time against the fastest peers, where it goes, and what keeping the energy costs."""
    lines = verdict(name, rows)
    longer = as_good(rows)
    if longer is not None:
        lines.append(
            f"{name}: {longer:.2f} times the fastest float64 peer with our steps as long as they "
            "may be for depth, joints and energy at least as good"
        )
    ours, euler = rows.get(OURS, {}), rows.get("MuJoCo Euler", {})
    if "energy_error" in ours:
        prices = [f"{ours['us'] / ours['plain_us']:.2f} times a bare step of our own"]
        if "us" in euler:
            prices.append(f"{ours['us'] / euler['us']:.2f} times MuJoCo's Euler step")
        lines.append(
            f"{name}: energy within {ours['energy_error']:.1e} at {' and '.join(prices)} "
            f"(asked: 1e-4 at {PRICE:g})"
        )
    return lines


ARTICULATED = Page(
    "articulated",
    COLUMNS,
    remarks,
    "Single thread, 1 ms a step, time on the processor; chains move for 5 s, their energy errors "
    "are shares of the energy they fall from.",
)
