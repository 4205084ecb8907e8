// Bullet, rigid bodies: bullet SCENE OUT; built for float64 or float32
#include <btBulletDynamicsCommon.h>
#include <cmath>
#include "scene.h"

static btVector3 vector(const double* p) { return btVector3(p[0], p[1], p[2]); }

int main(int, char** argv) {
  Scene s = read_scene(argv[1]);
  btScalar friction = std::sqrt(s.mu);  // Bullet multiplies the frictions of both sides
  btDefaultCollisionConfiguration settings; btCollisionDispatcher dispatcher(&settings);
  btDbvtBroadphase broad; btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad, &solver, &settings);
  world.setGravity(vector(s.gravity));
  if (s.plane) {
    auto* floor = new btRigidBody(0, new btDefaultMotionState(), new btStaticPlaneShape(btVector3(0, 0, 1), 0));
    floor->setFriction(friction); world.addRigidBody(floor);
  }
  std::vector<btRigidBody*> moving;
  for (auto& b : s.bodies) {
    btCollisionShape* shape = b.kind == 1 ? (btCollisionShape*)new btSphereShape(b.size[0])
                            : b.kind == 2 ? (btCollisionShape*)new btBoxShape(vector(b.size))
                                          : (btCollisionShape*)new btCapsuleShapeZ(b.size[0], 2 * b.size[1]);
    btRigidBody::btRigidBodyConstructionInfo info(b.mass, nullptr, shape, vector(b.inertia));
    info.m_startWorldTransform = btTransform(btQuaternion(b.quat[1], b.quat[2], b.quat[3], b.quat[0]), vector(b.pos));
    info.m_friction = friction;
    auto* x = new btRigidBody(info);
    world.addRigidBody(x);
    if (b.fixed) continue;
    x->setLinearVelocity(vector(b.vel)); x->setAngularVelocity(vector(b.ang)); x->updateInertiaTensor();
    x->setActivationState(DISABLE_DEACTIVATION);
    moving.push_back(x);
  }
  auto step = [&] { world.stepSimulation(s.dt, 0); };
  auto look = [&](Record& r) {
    int touching = 0;
    for (int i = 0; i < dispatcher.getNumManifolds(); i++) touching += dispatcher.getManifoldByIndexInternal(i)->getNumContacts();
    r.contacts.push_back(touching);
    for (auto* x : moving) {
      btVector3 p = x->getWorldTransform().getOrigin(), v = x->getLinearVelocity(), w = x->getAngularVelocity();
      btQuaternion q = x->getOrientation();
      double row[13] = {p.x(), p.y(), p.z(), q.w(), q.x(), q.y(), q.z(), v.x(), v.y(), v.z(), w.x(), w.y(), w.z()};
      r.put(row, 13);
    }
  };
  timed(s, step, look).write(argv[2], sizeof(btScalar) == 8 ? "Bullet, float64, 10 iterations" : "Bullet, float32, 10 iterations");
}
