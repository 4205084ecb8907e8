"""One time step: drift, kick, drift; begin reading in step.py."""
