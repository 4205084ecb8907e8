// The flat scene file of scenes.py: bodies of several shapes, joints of several axes.
#pragma once
#include <cmath>
#include "../../contacts/drivers/scene.h"

struct Part { int kind; double size[3], pos[3], quat[4]; };
struct Link { double pos[3], quat[4], vel[3], ang[3], mass, inertia[3]; std::vector<Part> shapes; };
struct Axis { double along[3]; int limited; double low, high; };
struct Joint { int parent, child; double anchor[3]; std::vector<Axis> axes; double kp, kd; };
struct Figure {
  double dt; int steps, every; double gravity[3], mu; int plane;
  std::vector<Link> bodies; std::vector<Joint> joints;
};

static Figure read_figure(const char* path) {
  FILE* f = fopen(path, "r");
  if (!f) exit(2);
  Figure s;
  s.dt = number(f); s.steps = (int)number(f); s.every = (int)number(f);
  numbers(f, s.gravity, 3); s.mu = number(f); s.plane = (int)number(f);
  s.bodies.resize((int)number(f));
  for (auto& b : s.bodies) {
    numbers(f, b.pos, 3); numbers(f, b.quat, 4); numbers(f, b.vel, 3); numbers(f, b.ang, 3);
    b.mass = number(f); numbers(f, b.inertia, 3);
    b.shapes.resize((int)number(f));
    for (auto& h : b.shapes) { h.kind = (int)number(f); numbers(f, h.size, 3); numbers(f, h.pos, 3); numbers(f, h.quat, 4); }
  }
  s.joints.resize((int)number(f));
  for (auto& j : s.joints) {
    j.parent = (int)number(f); j.child = (int)number(f); numbers(f, j.anchor, 3);
    j.axes.resize((int)number(f));
    for (auto& a : j.axes) { numbers(f, a.along, 3); a.limited = (int)number(f); a.low = number(f); a.high = number(f); }
    j.kp = number(f); j.kd = number(f);
  }
  fclose(f);
  return s;
}
