"""From one producer of frames to many viewers, none of whom can slow another."""
