// The flat scene file of scenes.py.
#pragma once
#include "record.h"

struct Body { int fixed, kind; double size[3], pos[3], quat[4], vel[3], ang[3], mass, inertia[3]; };
struct Scene { double dt; int steps, every; double gravity[3], mu; int plane; std::vector<Body> bodies; };

static Scene read_scene(const char* path) {
  FILE* f = fopen(path, "r");
  if (!f) exit(2);
  Scene s;
  s.dt = number(f); s.steps = (int)number(f); s.every = (int)number(f);
  numbers(f, s.gravity, 3); s.mu = number(f); s.plane = (int)number(f);
  s.bodies.resize((int)number(f));
  for (auto& b : s.bodies) {
    b.fixed = (int)number(f); b.kind = (int)number(f);
    numbers(f, b.size, 3); numbers(f, b.pos, 3); numbers(f, b.quat, 4);
    numbers(f, b.vel, 3); numbers(f, b.ang, 3); b.mass = number(f); numbers(f, b.inertia, 3);
  }
  fclose(f);
  return s;
}
