// Open Dynamics Engine on a scene of the families: ode SCENE OUT
#include <ode/ode.h>
#include "scene.h"

static dWorldID world; static dJointGroupID group; static double mu; static int touching;

static void near(void*, dGeomID a, dGeomID b) {
  dBodyID x = dGeomGetBody(a), y = dGeomGetBody(b);
  if (!x && !y) return;
  if (x && y && dAreConnectedExcluding(x, y, dJointTypeContact)) return;
  dContact c[8];
  int n = dCollide(a, b, 8, &c[0].geom, sizeof(dContact));
  for (int i = 0; i < n; i++) {
    c[i].surface.mode = dContactApprox1; c[i].surface.mu = mu;
    dJointAttach(dJointCreateContact(world, group, &c[i]), x, y);
  }
  touching += n;
}

static dGeomID geometry(dSpaceID space, const Shape& h) {
  if (h.kind == SPHERE) return dCreateSphere(space, h.size[0]);
  if (h.kind == BOX) return dCreateBox(space, 2 * h.size[0], 2 * h.size[1], 2 * h.size[2]);
  if (h.kind == CAPSULE) return dCreateCapsule(space, h.size[0], 2 * h.size[1]);
  auto* points = new std::vector<double>(h.points);
  auto* faces = new std::vector<dTriIndex>(h.faces.begin(), h.faces.end());
  dTriMeshDataID data = dGeomTriMeshDataCreate();
  dGeomTriMeshDataBuildDouble(data, points->data(), 3 * sizeof(double), points->size() / 3, faces->data(), faces->size(), 3 * sizeof(dTriIndex));
  return dCreateTriMesh(space, data, 0, 0, 0);
}

static void turned(const double* q, const double* v, double* out) {
  dMatrix3 R; dQtoR(q, R); for (int i = 0; i < 3; i++) out[i] = R[4 * i] * v[0] + R[4 * i + 1] * v[1] + R[4 * i + 2] * v[2];
}

// Its axes count the motion of the first body against the second: the child is the first.
static dJointID connect(const Joint& j, dBodyID p, dBodyID c) {
  const double *a = j.anchor, *s = j.axis, *t = j.axis2, *z = j.anchor2;
  dJointID k = nullptr;
  if (j.kind == BALL) { k = dJointCreateBall(world, 0); dJointAttach(k, c, p); dJointSetBallAnchor(k, a[0], a[1], a[2]); }
  if (j.kind == HINGE) { k = dJointCreateHinge(world, 0); dJointAttach(k, c, p); dJointSetHingeAnchor(k, a[0], a[1], a[2]); dJointSetHingeAxis(k, s[0], s[1], s[2]); }
  if (j.kind == SLIDER) { k = dJointCreateSlider(world, 0); dJointAttach(k, c, p); dJointSetSliderAxis(k, s[0], s[1], s[2]); }
  if (j.kind == UNIVERSAL) { k = dJointCreateUniversal(world, 0); dJointAttach(k, c, p); dJointSetUniversalAnchor(k, a[0], a[1], a[2]); dJointSetUniversalAxis1(k, t[0], t[1], t[2]); dJointSetUniversalAxis2(k, s[0], s[1], s[2]); }
  if (j.kind == FIXED) { k = dJointCreateFixed(world, 0); dJointAttach(k, c, p); dJointSetFixed(k); }
  if (j.kind == CYLINDRICAL) { k = dJointCreatePiston(world, 0); dJointAttach(k, c, p); dJointSetPistonAnchor(k, a[0], a[1], a[2]); dJointSetPistonAxis(k, s[0], s[1], s[2]); }
  if (j.kind == DISTANCE) { k = dJointCreateDBall(world, 0); dJointAttach(k, c, p); dJointSetDBallAnchor1(k, z[0], z[1], z[2]); dJointSetDBallAnchor2(k, a[0], a[1], a[2]); }
  if (!k) exit(4);
  void (*set)(dJointID, int, dReal) = j.kind == HINGE ? dJointSetHingeParam : dJointSetSliderParam;
  if (j.limited) { set(k, dParamLoStop, j.lo); set(k, dParamHiStop, j.hi); }
  if (j.motor == VELOCITY) { set(k, dParamVel, j.p[0]); set(k, dParamFMax, j.p[1]); }
  return k;
}

int main(int, char** argv) {
  Scene s = read_scene(argv[1]);
  dInitODE2(0);
  world = dWorldCreate(); group = dJointGroupCreate(0); mu = s.mu;
  dWorldSetGravity(world, s.gravity[0], s.gravity[1], s.gravity[2]);
  dWorldSetQuickStepNumIterations(world, 20); dWorldSetAutoDisableFlag(world, 0);
  dSpaceID space = dHashSpaceCreate(0); dHashSpaceSetLevels(space, -3, 3);
  if (s.plane) dCreatePlane(space, 0, 0, 1, 0);
  std::vector<dBodyID> all, moving;
  for (auto& b : s.bodies) {
    dBodyID x = nullptr;
    if (!b.fixed) {
      x = dBodyCreate(world); dMass m;
      dMassSetParameters(&m, b.mass, 0, 0, 0, b.inertia[0], b.inertia[1], b.inertia[2], 0, 0, 0);
      dBodySetMass(x, &m); dBodySetPosition(x, b.pos[0], b.pos[1], b.pos[2]); dBodySetQuaternion(x, b.quat);
      dBodySetLinearVel(x, b.vel[0], b.vel[1], b.vel[2]); dBodySetAngularVel(x, b.ang[0], b.ang[1], b.ang[2]);
      moving.push_back(x);
    }
    all.push_back(x);
    for (auto& h : b.shapes) {
      dGeomID g = geometry(space, h);
      if (x) { dGeomSetBody(g, x); dGeomSetOffsetPosition(g, h.pos[0], h.pos[1], h.pos[2]); dGeomSetOffsetQuaternion(g, h.quat); continue; }
      double p[3]; dQuaternion q; turned(b.quat, h.pos, p); dQMultiply0(q, b.quat, h.quat);
      dGeomSetPosition(g, b.pos[0] + p[0], b.pos[1] + p[1], b.pos[2] + p[2]); dGeomSetQuaternion(g, q);
    }
  }
  std::vector<dJointID> joints;
  for (auto& j : s.joints) joints.push_back(connect(j, j.parent < 0 ? nullptr : all[j.parent], all[j.child]));
  auto step = [&] {
    for (size_t n = 0; n < joints.size(); n++) {
      const Joint& j = s.joints[n];
      if (j.motor != SPRING) continue;
      dJointAddHingeTorque(joints[n], j.p[0] * (j.p[2] - dJointGetHingeAngle(joints[n])) - j.p[1] * dJointGetHingeAngleRate(joints[n]));
    }
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
