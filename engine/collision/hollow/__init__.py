"""Hollow shapes (tube, ring, bowl): signed distance, contacts with convex shapes, rays."""
