// The flat scene file of flat.py.
#pragma once
#include "../../contacts/drivers/record.h"

enum { SPHERE = 1, BOX, CAPSULE, CYLINDER, HULL, MESH };
enum { BALL = 1, HINGE, SLIDER, UNIVERSAL, FIXED, CYLINDRICAL, PLANAR, DISTANCE };
enum { NO_MOTOR, VELOCITY, SPRING };

struct Shape { int kind; double size[3], pos[3], quat[4]; std::vector<double> points; std::vector<int> faces; };
struct Body { int fixed; double pos[3], quat[4], vel[3], ang[3], mass, inertia[3]; std::vector<Shape> shapes; };
struct Joint { int kind, parent, child; double anchor[3], axis[3], axis2[3], anchor2[3]; int limited; double lo, hi; int motor; double p[3]; };
struct Scene { double dt; int steps, every; double gravity[3], mu; int plane; std::vector<Body> bodies; std::vector<Joint> joints; };

static Scene read_scene(const char* path) {
  FILE* f = fopen(path, "r");
  if (!f) exit(2);
  Scene s;
  s.dt = number(f); s.steps = (int)number(f); s.every = (int)number(f);
  numbers(f, s.gravity, 3); s.mu = number(f); s.plane = (int)number(f);
  s.bodies.resize((int)number(f));
  for (auto& b : s.bodies) {
    b.fixed = (int)number(f);
    numbers(f, b.pos, 3); numbers(f, b.quat, 4); numbers(f, b.vel, 3); numbers(f, b.ang, 3);
    b.mass = number(f); numbers(f, b.inertia, 3);
    b.shapes.resize((int)number(f));
    for (auto& h : b.shapes) {
      h.kind = (int)number(f); numbers(f, h.size, 3); numbers(f, h.pos, 3); numbers(f, h.quat, 4);
      h.points.resize((int)number(f)); for (auto& x : h.points) x = number(f);
      h.faces.resize((int)number(f)); for (auto& x : h.faces) x = (int)number(f);
    }
  }
  s.joints.resize((int)number(f));
  for (auto& j : s.joints) {
    j.kind = (int)number(f); j.parent = (int)number(f); j.child = (int)number(f);
    numbers(f, j.anchor, 3); numbers(f, j.axis, 3); numbers(f, j.axis2, 3); numbers(f, j.anchor2, 3);
    j.limited = (int)number(f); j.lo = number(f); j.hi = number(f);
    j.motor = (int)number(f); numbers(f, j.p, 3);
  }
  fclose(f);
  return s;
}
