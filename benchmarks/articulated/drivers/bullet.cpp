// Bullet, articulated bodies by Featherstone: bullet SCENE OUT
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyJointLimitConstraint.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <btBulletDynamicsCommon.h>
#include "tree.h"

static btVector3 vector(const double* p) { return btVector3(p[0], p[1], p[2]); }
static btTransform pose(const Link& b) {
  return btTransform(btQuaternion(b.quat[1], b.quat[2], b.quat[3], b.quat[0]), vector(b.pos));
}

static btCollisionShape* solid(const Link& b) {
  auto* all = new btCompoundShape();
  for (auto& h : b.shapes) {
    btCollisionShape* one = h.kind == 1 ? (btCollisionShape*)new btSphereShape(h.size[0])
                          : h.kind == 2 ? (btCollisionShape*)new btBoxShape(vector(h.size))
                                        : (btCollisionShape*)new btCapsuleShapeZ(h.size[0], 2 * h.size[1]);
    all->addChildShape(btTransform(btQuaternion(h.quat[1], h.quat[2], h.quat[3], h.quat[0]), vector(h.pos)), one);
  }
  return all;
}

struct Drive { int link; double kp, kd; };
struct Stop { int link; double low, high; };

int main(int, char** argv) {
  Figure s = read_figure(argv[1]);
  btScalar friction = std::sqrt(s.mu);  // Bullet multiplies the frictions of both sides
  btDefaultCollisionConfiguration settings; btCollisionDispatcher dispatcher(&settings);
  btDbvtBroadphase broad; btMultiBodyConstraintSolver solver;
  btMultiBodyDynamicsWorld world(&dispatcher, &broad, &solver, &settings);
  world.setGravity(vector(s.gravity));
  if (s.plane) {
    auto* floor = new btRigidBody(0, new btDefaultMotionState(), new btStaticPlaneShape(btVector3(0, 0, 1), 0));
    floor->setFriction(friction); world.addRigidBody(floor, 1, 2);
  }
  int count = (int)s.bodies.size(), links = 0; bool grounded = false;
  for (auto& j : s.joints) { grounded |= j.parent < 0; links += j.axes.size() > 1 ? (int)j.axes.size() : 1; }
  std::vector<int> link(count, -1);
  auto& root = s.bodies[0];
  auto* m = grounded ? new btMultiBody(links, 0, btVector3(0, 0, 0), true, false)
                     : new btMultiBody(links, root.mass, vector(root.inertia), false, false);
  if (!grounded) m->setBaseWorldTransform(pose(root));
  std::vector<Drive> drives; std::vector<Stop> stops;
  std::vector<std::pair<int, btVector3>> turning;
  int k = 0;
  for (auto& j : s.joints) {
    Link& child = s.bodies[j.child];
    btTransform P = j.parent < 0 ? btTransform::getIdentity() : pose(s.bodies[j.parent]), C = pose(child);
    int up = j.parent < 0 ? -1 : link[j.parent];
    btVector3 anchor = vector(j.anchor), from = P.invXform(anchor), to = C.getBasis().transpose() * (C.getOrigin() - anchor);
    btQuaternion turn = C.getRotation().inverse() * P.getRotation();
    btVector3 before = j.parent < 0 ? btVector3(0, 0, 0) : vector(s.bodies[j.parent].ang);
    btVector3 w = C.getBasis().transpose() * (vector(child.ang) - before);
    if (j.axes.empty()) {
      m->setupSpherical(k, child.mass, vector(child.inertia), up, turn, from, to, true);
      turning.push_back({k, w}); link[j.child] = k++;
      continue;
    }
    for (size_t i = 0; i < j.axes.size(); i++) {
      auto& a = j.axes[i];
      if (i + 1 == j.axes.size()) {
        btVector3 along = C.getBasis().transpose() * vector(a.along);
        m->setupRevolute(k, child.mass, vector(child.inertia), up, turn, along, from, to, true);
        link[j.child] = k;
      } else {
        btVector3 along = P.getBasis().transpose() * vector(a.along);
        m->setupRevolute(k, 0, btVector3(0, 0, 0), up, btQuaternion(0, 0, 0, 1), along, from, btVector3(0, 0, 0), true);
      }
      if (a.limited) stops.push_back({k, a.low, a.high});
      if (j.kp > 0) drives.push_back({k, j.kp, j.kd});
      up = k++; from = btVector3(0, 0, 0);
    }
  }
  m->finalizeMultiDof();
  m->setLinearDamping(0); m->setAngularDamping(0); m->setHasSelfCollision(false); m->setUseGyroTerm(true);
  m->setMaxCoordinateVelocity(1e10); m->setMaxAppliedImpulse(1e10);
  for (auto& one : turning) { btScalar x[3] = {one.second.x(), one.second.y(), one.second.z()}; m->setJointVelMultiDof(one.first, x); }
  btAlignedObjectArray<btQuaternion> q; btAlignedObjectArray<btVector3> p; m->forwardKinematics(q, p);
  world.addMultiBody(m);
  for (int i = 0; i < count && s.plane; i++) {
    auto* o = new btMultiBodyLinkCollider(m, link[i]);
    o->setCollisionShape(solid(s.bodies[i])); o->setWorldTransform(pose(s.bodies[i])); o->setFriction(friction);
    world.addCollisionObject(o, 2, 1);
    if (link[i] < 0) m->setBaseCollider(o); else m->getLink(link[i]).m_collider = o;
  }
  for (auto& one : stops) world.addMultiBodyConstraint(new btMultiBodyJointLimitConstraint(m, one.link, one.low, one.high));
  btAlignedObjectArray<btVector3> turns, moves; turns.resize(links + 1); moves.resize(links + 1);
  auto step = [&] {
    for (auto& d : drives) m->addJointTorque(d.link, -d.kp * m->getJointPos(d.link) - d.kd * m->getJointVel(d.link));
    world.stepSimulation(s.dt, 0);
  };
  auto look = [&](Record& r) {
    int touching = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); i++) touching += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    r.contacts.push_back(touching);
    m->forwardKinematics(q, p); m->compTreeLinkVelocities(&turns[0], &moves[0]);
    for (int i = 0; i < count; i++) {
      btTransform T = link[i] < 0 ? m->getBaseWorldTransform() : m->getLink(link[i]).m_cachedWorldTransform;
      btVector3 at = T.getOrigin(), v = T.getBasis() * moves[link[i] + 1], w = T.getBasis() * turns[link[i] + 1];
      btQuaternion o = T.getRotation();
      double row[13] = {at.x(), at.y(), at.z(), o.w(), o.x(), o.y(), o.z(), v.x(), v.y(), v.z(), w.x(), w.y(), w.z()};
      r.put(row, 13);
    }
  };
  timed(s, step, look).write(argv[2], sizeof(btScalar) == 8 ? "Bullet, float64, articulated" : "Bullet, float32, articulated");
}
