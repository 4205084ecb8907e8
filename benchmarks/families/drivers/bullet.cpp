// Bullet, rigid bodies, on a scene of the families: bullet SCENE OUT; built for float64 or float32
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include <cstring>
#include "scene.h"

typedef btVector3 V; typedef btTransform T;
static V vec(const double* p) { return V(p[0], p[1], p[2]); }
static btQuaternion quat(const double* q) { return btQuaternion(q[1], q[2], q[3], q[0]); }

static btCollisionShape* simple(const Shape& h) {
  if (h.kind == SPHERE) return new btSphereShape(h.size[0]);
  if (h.kind == BOX) return new btBoxShape(vec(h.size));
  if (h.kind == CAPSULE) return new btCapsuleShapeZ(h.size[0], 2 * h.size[1]);
  if (h.kind == CYLINDER) return new btCylinderShapeZ(V(h.size[0], h.size[0], h.size[1]));
  if (h.kind == HULL) {
    auto* x = new btConvexHullShape();
    for (size_t i = 0; i < h.points.size(); i += 3) x->addPoint(vec(&h.points[i]), false);
    x->recalcLocalAabb();
    return x;
  }
  auto* mesh = new btTriangleMesh();
  for (size_t i = 0; i < h.faces.size(); i += 3)
    mesh->addTriangle(vec(&h.points[3 * h.faces[i]]), vec(&h.points[3 * h.faces[i + 1]]), vec(&h.points[3 * h.faces[i + 2]]));
  return new btBvhTriangleMeshShape(mesh, true);
}

static btCollisionShape* made(const Body& b) {
  auto& h = b.shapes[0];
  bool centred = b.shapes.size() == 1 && h.quat[0] > 1 - 1e-12 && vec(h.pos).length() < 1e-12;
  if (centred) return simple(h);
  auto* all = new btCompoundShape();
  for (auto& one : b.shapes) all->addChildShape(T(quat(one.quat), vec(one.pos)), simple(one));
  return all;
}

// A frame with its axis number `which` along s
static btMatrix3x3 frame(const V& s, int which) {
  V u, w; btPlaneSpace1(s, u, w);
  if (u.cross(w).dot(s) < 0) w = -w;
  V c[3]; c[which] = s; c[(which + 1) % 3] = u; c[(which + 2) % 3] = w;
  return btMatrix3x3(c[0].x(), c[1].x(), c[2].x(), c[0].y(), c[1].y(), c[2].y(), c[0].z(), c[1].z(), c[2].z());
}

static btTypedConstraint* connect(const Joint& j, btRigidBody* p, btRigidBody* c, double dt) {
  V a = vec(j.anchor), s = vec(j.axis);
  T P = p->getWorldTransform(), C = c->getWorldTransform();
  if (j.kind == BALL) return new btPoint2PointConstraint(*p, *c, P.invXform(a), C.invXform(a));
  T F(frame(s, j.kind == HINGE ? 2 : 0), a), A = P.inverse() * F, B = C.inverse() * F;
  if (j.kind == HINGE) {  // it counts the parent against the child
    auto* k = new btHingeConstraint(*p, *c, A, B, false);
    if (j.limited) k->setLimit(-j.hi, -j.lo);
    if (j.motor == VELOCITY) k->enableAngularMotor(true, -j.p[0], j.p[1] * dt);
    return k;
  }
  if (j.kind == FIXED) return new btFixedConstraint(*p, *c, A, B);
  if (j.kind == UNIVERSAL) {
    V t = vec(j.axis2), u = s.cross(t);
    btMatrix3x3 R(s.x(), t.x(), u.x(), s.y(), t.y(), u.y(), s.z(), t.z(), u.z());
    F.setBasis(R); A = P.inverse() * F; B = C.inverse() * F;
  }
  auto* k = new btGeneric6DofSpring2Constraint(*p, *c, A, B);
  bool turns = j.kind == CYLINDRICAL || j.kind == PLANAR || j.kind == UNIVERSAL;
  bool slides = j.kind == SLIDER || j.kind == CYLINDRICAL;
  V zero(0, 0, 0), low = zero, high = zero;
  if (slides) { low[0] = 1; high[0] = -1; }
  if (j.kind == PLANAR) { low[1] = low[2] = 1; high[1] = high[2] = -1; }
  if (j.limited) { low[0] = j.lo; high[0] = j.hi; }
  k->setLinearLowerLimit(low); k->setLinearUpperLimit(high);
  low = high = zero;
  if (turns) { low[0] = 1; high[0] = -1; }
  if (j.kind == UNIVERSAL) { low[1] = 1; high[1] = -1; }
  k->setAngularLowerLimit(low); k->setAngularUpperLimit(high);
  if (j.motor == VELOCITY) { k->enableMotor(0, true); k->setTargetVelocity(0, j.p[0]); k->setMaxMotorForce(0, j.p[1]); }
  return k;
}

static void drive(const Joint& j, btHingeConstraint* h) {
  btRigidBody &a = h->getRigidBodyA(), &b = h->getRigidBodyB();
  V axis = b.getWorldTransform().getBasis() * h->getBFrame().getBasis().getColumn(2);
  btScalar t = j.p[0] * (j.p[2] + h->getHingeAngle()) - j.p[1] * axis.dot(b.getAngularVelocity() - a.getAngularVelocity());
  b.applyTorque(axis * t); a.applyTorque(axis * -t);
}

int main(int, char** argv) {
  Scene s = read_scene(argv[1]);
  btScalar friction = std::sqrt(s.mu);  // Bullet multiplies the frictions of both sides
  btDefaultCollisionConfiguration settings; btCollisionDispatcher dispatcher(&settings);
  btDbvtBroadphase broad; btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad, &solver, &settings);
  world.setGravity(vec(s.gravity));
  if (s.plane) {
    auto* floor = new btRigidBody(0, new btDefaultMotionState(), new btStaticPlaneShape(V(0, 0, 1), 0));
    floor->setFriction(friction); world.addRigidBody(floor);
  }
  std::vector<btRigidBody*> all, moving;
  for (auto& b : s.bodies) {
    btRigidBody::btRigidBodyConstructionInfo info(b.mass, nullptr, made(b), vec(b.inertia));
    info.m_startWorldTransform = T(quat(b.quat), vec(b.pos));
    info.m_friction = friction;
    auto* x = new btRigidBody(info);
    world.addRigidBody(x);
    all.push_back(x);
    if (b.fixed) continue;
    x->setLinearVelocity(vec(b.vel)); x->setAngularVelocity(vec(b.ang)); x->updateInertiaTensor();
    x->setActivationState(DISABLE_DEACTIVATION);
    moving.push_back(x);
  }
  std::vector<btTypedConstraint*> joints;
  for (auto& j : s.joints) {
    joints.push_back(connect(j, j.parent < 0 ? &btTypedConstraint::getFixedBody() : all[j.parent], all[j.child], s.dt));
    world.addConstraint(joints.back(), true);
  }
  auto step = [&] {
    for (size_t n = 0; n < joints.size(); n++) if (s.joints[n].motor == SPRING) drive(s.joints[n], (btHingeConstraint*)joints[n]);
    world.stepSimulation(s.dt, 0);
  };
  auto look = [&](Record& r) {
    int touching = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); i++) touching += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    r.contacts.push_back(touching);
    for (auto* x : moving) {
      V p = x->getWorldTransform().getOrigin(), v = x->getLinearVelocity(), w = x->getAngularVelocity();
      btQuaternion q = x->getOrientation();
      double row[13] = {p.x(), p.y(), p.z(), q.w(), q.x(), q.y(), q.z(), v.x(), v.y(), v.z(), w.x(), w.y(), w.z()};
      r.put(row, 13);
    }
  };
  timed(s, step, look).write(argv[2], sizeof(btScalar) == 8 ? "Bullet, float64, 10 iterations" : "Bullet, float32, 10 iterations");
}
