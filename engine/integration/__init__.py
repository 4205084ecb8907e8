"""From impulses to velocities, from velocities to poses."""
