"""Hollow shapes (tube, ring, bowl): signed distance, contacts with balls and capsules, rays."""
