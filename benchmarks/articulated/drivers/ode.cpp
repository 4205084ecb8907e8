// Open Dynamics Engine: ode SCENE OUT step|quick
#include <ode/ode.h>
#include "tree.h"

static dWorldID world; static dJointGroupID group; static double mu; static int touching;

// bodies touch the plane only
static void near(void*, dGeomID a, dGeomID b) {
  dBodyID x = dGeomGetBody(a), y = dGeomGetBody(b);
  if ((x && y) || (!x && !y)) return;
  dContact c[8];
  int n = dCollide(a, b, 8, &c[0].geom, sizeof(dContact));
  for (int i = 0; i < n; i++) {
    c[i].surface.mode = dContactApprox1; c[i].surface.mu = mu;
    dJointAttach(dJointCreateContact(world, group, &c[i]), x, y);
  }
  touching += n;
}

struct Drive { dJointID hinge; double kp, kd; };

static dJointID hinge(const Joint& j, dBodyID parent, dBodyID child) {
  dJointID k = dJointCreateHinge(world, 0); dJointAttach(k, child, parent);
  auto& a = j.axes[0];
  dJointSetHingeAnchor(k, j.anchor[0], j.anchor[1], j.anchor[2]);
  dJointSetHingeAxis(k, a.along[0], a.along[1], a.along[2]);
  if (a.limited) { dJointSetHingeParam(k, dParamLoStop, a.low); dJointSetHingeParam(k, dParamHiStop, a.high); }
  return k;
}

// ODE's first axis is fixed to its first body (here the child), and its stops count the other way round
static void universal(const Joint& j, dBodyID parent, dBodyID child) {
  dJointID k = dJointCreateUniversal(world, 0); dJointAttach(k, child, parent);
  auto &a = j.axes[1], &b = j.axes[0];
  dJointSetUniversalAnchor(k, j.anchor[0], j.anchor[1], j.anchor[2]);
  dJointSetUniversalAxis1(k, a.along[0], a.along[1], a.along[2]);
  dJointSetUniversalAxis2(k, b.along[0], b.along[1], b.along[2]);
  dJointSetUniversalParam(k, dParamLoStop1, -a.high); dJointSetUniversalParam(k, dParamHiStop1, -a.low);
  dJointSetUniversalParam(k, dParamLoStop2, -b.high); dJointSetUniversalParam(k, dParamHiStop2, -b.low);
}

static void ball(const Joint& j, dBodyID parent, dBodyID child) {
  dJointID k = dJointCreateBall(world, 0); dJointAttach(k, child, parent);
  dJointSetBallAnchor(k, j.anchor[0], j.anchor[1], j.anchor[2]);
  if (j.axes.size() < 3) return;
  dJointID m = dJointCreateAMotor(world, 0); dJointAttach(m, parent, child); dJointSetAMotorMode(m, dAMotorEuler);
  auto &a = j.axes[0], &b = j.axes[2];
  dJointSetAMotorAxis(m, 0, 1, a.along[0], a.along[1], a.along[2]);
  dJointSetAMotorAxis(m, 2, 2, b.along[0], b.along[1], b.along[2]);
  int low[3] = {dParamLoStop, dParamLoStop2, dParamLoStop3}, high[3] = {dParamHiStop, dParamHiStop2, dParamHiStop3};
  for (int i = 0; i < 3; i++) {
    double least = -j.axes[i].high, most = -j.axes[i].low;
    if (i == 1) { least = fmax(least, -1.5); most = fmin(most, 1.5); }
    dJointSetAMotorParam(m, low[i], least); dJointSetAMotorParam(m, high[i], most);
  }
}

int main(int, char** argv) {
  Figure s = read_figure(argv[1]); bool quick = std::string(argv[3]) == "quick";
  dInitODE2(0);
  world = dWorldCreate(); group = dJointGroupCreate(0); mu = s.mu;
  dWorldSetGravity(world, s.gravity[0], s.gravity[1], s.gravity[2]);
  dWorldSetQuickStepNumIterations(world, 20); dWorldSetAutoDisableFlag(world, 0);
  dSpaceID space = dHashSpaceCreate(0); dHashSpaceSetLevels(space, -3, 3);
  if (s.plane) dCreatePlane(space, 0, 0, 1, 0);
  std::vector<dBodyID> bodies;
  for (auto& b : s.bodies) {
    dBodyID x = dBodyCreate(world); dMass m;
    dMassSetParameters(&m, b.mass, 0, 0, 0, b.inertia[0], b.inertia[1], b.inertia[2], 0, 0, 0);
    dBodySetMass(x, &m);
    dBodySetPosition(x, b.pos[0], b.pos[1], b.pos[2]); dBodySetQuaternion(x, b.quat);
    dBodySetLinearVel(x, b.vel[0], b.vel[1], b.vel[2]); dBodySetAngularVel(x, b.ang[0], b.ang[1], b.ang[2]);
    bodies.push_back(x);
    if (s.plane) for (auto& h : b.shapes) {
      dGeomID g = h.kind == 1 ? dCreateSphere(space, h.size[0])
                : h.kind == 2 ? dCreateBox(space, 2 * h.size[0], 2 * h.size[1], 2 * h.size[2])
                              : dCreateCapsule(space, h.size[0], 2 * h.size[1]);
      dGeomSetBody(g, x); dGeomSetOffsetPosition(g, h.pos[0], h.pos[1], h.pos[2]); dGeomSetOffsetQuaternion(g, h.quat);
    }
  }
  std::vector<Drive> drives;
  for (auto& j : s.joints) {
    dBodyID parent = j.parent < 0 ? 0 : bodies[j.parent], child = bodies[j.child];
    if (j.axes.size() == 1) {
      dJointID k = hinge(j, parent, child);
      if (j.kp > 0) drives.push_back({k, j.kp, j.kd});
    } else if (j.axes.size() == 2) universal(j, parent, child);
    else ball(j, parent, child);
  }
  auto step = [&] {
    touching = 0;
    for (auto& d : drives)
      dJointAddHingeTorque(d.hinge, -d.kp * dJointGetHingeAngle(d.hinge) - d.kd * dJointGetHingeAngleRate(d.hinge));
    if (s.plane) dSpaceCollide(space, 0, &near);
    if (quick) dWorldQuickStep(world, s.dt); else dWorldStep(world, s.dt);
    dJointGroupEmpty(group);
  };
  auto look = [&](Record& r) {
    r.contacts.push_back(touching);
    for (auto x : bodies) {
      r.put(dBodyGetPosition(x), 3); r.put(dBodyGetQuaternion(x), 4);
      r.put(dBodyGetLinearVel(x), 3); r.put(dBodyGetAngularVel(x), 3);
    }
  };
  timed(s, step, look).write(argv[2], quick ? "ODE, float64, QuickStep with 20 iterations" : "ODE, float64, dWorldStep (Dantzig)");
}
