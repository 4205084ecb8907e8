"""From one producer of frames to many viewers; a slow viewer does not delay others."""
