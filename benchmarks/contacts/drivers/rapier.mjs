// Rapier (WebAssembly, float32, SIMD): node rapier.mjs SCENE.json OUT NODE_MODULES
import fs from 'fs';
import { createRequire } from 'module';
const [, , file, out, modules] = process.argv;
const R = createRequire(modules + '/')('@dimforge/rapier3d-simd-compat');
await R.init();
const s = JSON.parse(fs.readFileSync(file));
const xyz = (p) => ({ x: p[0], y: p[1], z: p[2] }), wxyz = (q) => ({ w: q[0], x: q[1], y: q[2], z: q[3] });
const world = new R.World(xyz(s.gravity));
world.timestep = s.dt;
const moving = [], colliders = [];
if (s.plane) {
  const floor = new R.ColliderDesc(new R.HalfSpace({ x: 0, y: 0, z: 1 })).setFriction(s.mu);
  colliders.push(world.createCollider(floor, world.createRigidBody(R.RigidBodyDesc.fixed())));
}
for (const b of s.bodies) {
  const d = b.fixed ? R.RigidBodyDesc.fixed() : R.RigidBodyDesc.dynamic();
  d.setTranslation(...b.pos).setRotation(wxyz(b.quat));
  if (!b.fixed) {
    d.setLinvel(...b.vel).setAngvel(xyz(b.angvel)).setCanSleep(false);
    d.setAdditionalMassProperties(b.mass, xyz([0, 0, 0]), xyz(b.inertia), wxyz([1, 0, 0, 0]));
  }
  const x = world.createRigidBody(d), z = b.size;
  const c = b.kind === 'sphere' ? R.ColliderDesc.ball(z[0]) : b.kind === 'box' ? R.ColliderDesc.cuboid(...z) : R.ColliderDesc.capsule(z[1], z[0]);
  if (b.kind === 'capsule') c.setRotation(wxyz([Math.SQRT1_2, Math.SQRT1_2, 0, 0]));  // its axis is y
  colliders.push(world.createCollider(c.setDensity(0).setFriction(s.mu), x));
  if (!b.fixed) moving.push(x);
}
const now = () => { const u = process.cpuUsage(); return u.user + u.system; };
const times = [], states = [], contacts = [];
for (let k = 0; k < s.steps; k += s.every) {
  const began = now();
  for (let i = 0; i < s.every; i++) world.step();
  times.push((now() - began) / s.every);
  let n = 0;
  for (const c of colliders) world.contactPairsWith(c, (o) => {
    if (c.handle < o.handle) world.contactPair(c, o, (m) => { n += m.numSolverContacts(); });
  });
  contacts.push(n);
  for (const b of moving) {
    const p = b.translation(), q = b.rotation(), v = b.linvel(), w = b.angvel();
    states.push(p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z);
  }
}
const put = (name, a) => fs.writeFileSync(out + '/' + name, Buffer.from(new Float64Array(a).buffer));
put('times.f64', times); put('states.f64', states); put('contacts.f64', contacts);
fs.writeFileSync(out + '/about.txt', `Rapier ${R.version()}, float32, WebAssembly with SIMD, ${world.numSolverIterations} iterations\n`);
