// Open Dynamics Engine: ode SCENE OUT
#include <ode/ode.h>
#include "scene.h"

static dWorldID world; static dJointGroupID group; static double mu; static int touching;

static void near(void*, dGeomID a, dGeomID b) {
  dBodyID x = dGeomGetBody(a), y = dGeomGetBody(b);
  if (!x && !y) return;
  dContact c[8];
  int n = dCollide(a, b, 8, &c[0].geom, sizeof(dContact));
  for (int i = 0; i < n; i++) {
    c[i].surface.mode = dContactApprox1; c[i].surface.mu = mu;
    dJointAttach(dJointCreateContact(world, group, &c[i]), x, y);
  }
  touching += n;
}

int main(int, char** argv) {
  Scene s = read_scene(argv[1]);
  dInitODE2(0);
  world = dWorldCreate(); group = dJointGroupCreate(0); mu = s.mu;
  dWorldSetGravity(world, s.gravity[0], s.gravity[1], s.gravity[2]);
  dWorldSetQuickStepNumIterations(world, 20); dWorldSetAutoDisableFlag(world, 0);
  dSpaceID space = dHashSpaceCreate(0); dHashSpaceSetLevels(space, -3, 3);
  if (s.plane) dCreatePlane(space, 0, 0, 1, 0);
  std::vector<dBodyID> moving;
  for (auto& b : s.bodies) {
    dGeomID g = b.kind == 1 ? dCreateSphere(space, b.size[0])
              : b.kind == 2 ? dCreateBox(space, 2 * b.size[0], 2 * b.size[1], 2 * b.size[2])
                            : dCreateCapsule(space, b.size[0], 2 * b.size[1]);
    if (b.fixed) { dGeomSetPosition(g, b.pos[0], b.pos[1], b.pos[2]); dGeomSetQuaternion(g, b.quat); continue; }
    dBodyID x = dBodyCreate(world); dMass m;
    dMassSetParameters(&m, b.mass, 0, 0, 0, b.inertia[0], b.inertia[1], b.inertia[2], 0, 0, 0);
    dBodySetMass(x, &m); dGeomSetBody(g, x);
    dBodySetPosition(x, b.pos[0], b.pos[1], b.pos[2]); dBodySetQuaternion(x, b.quat);
    dBodySetLinearVel(x, b.vel[0], b.vel[1], b.vel[2]); dBodySetAngularVel(x, b.ang[0], b.ang[1], b.ang[2]);
    moving.push_back(x);
  }
  auto step = [&] {
    touching = 0;
    dSpaceCollide(space, 0, &near);
    dWorldQuickStep(world, s.dt);
    dJointGroupEmpty(group);
  };
  auto look = [&](Record& r) {
    r.contacts.push_back(touching);
    for (auto x : moving) {
      r.put(dBodyGetPosition(x), 3); r.put(dBodyGetQuaternion(x), 4);
      r.put(dBodyGetLinearVel(x), 3); r.put(dBodyGetAngularVel(x), 3);
    }
  };
  timed(s, step, look).write(argv[2], "ODE, float64, QuickStep with 20 iterations, hash space");
}
