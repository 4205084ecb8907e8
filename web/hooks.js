/**
 * `window.cardan`: what tests and curious people may read from the console. Nothing here changes the run.
 *
 *     cardan.stats()        draw calls, triangles, slowest recent frame [ms of script], bytes received
 *     cardan.shown()        step and time of the moment in the view, "live" or "history", run state
 *     cardan.sessionId()    id of the session, for calls to the API
 *     cardan.pose(name)     [px, py, pz, qx, qy, qz, qw] of a body as it is drawn
 *     cardan.screen(name)   {x, y} of a body's origin in page pixels
 *     cardan.camera()       position of the camera and what it looks at [m], 6 numbers
 *     cardan.asleep(name)   whether a body is drawn as one that sleeps
 *     cardan.flashes()      {begin, break}: how many events have flashed in the view
 *     cardan.contacts()     how many contacts are shown or inspected; null while none are asked for
 *     cardan.friction()     of the contacts shown, 4 numbers each: the force [N] and the coefficient; null while not asked for
 *     cardan.limits()       of the joints that are shown: {joint, kind, lower, upper, value, stopped} of each range [rad or m]
 *     cardan.trust()        {horizon, step, errors, words}: how far the curves can be believed, or null
 *     cardan.series(i)      the numbers behind plot i: {times, values}
 *     cardan.drawn()        how many rods between joints and bodies, marks at the anchors of joints, and forces of motors are drawn
 *     cardan.inertias()     ends of the lines of the boxes of inertia, 6 numbers each [m]
 *     cardan.heat()         colour of each body by what misses its law there, as hex digits; null while not shown
 *     cardan.ticks(i)       words at the left axis of plot i
 *     cardan.pinned()       titles of the pinned plots and the numbers behind them: [{title, times, values}]
 *     cardan.ghost(name)    position of a body as the ghost draws it, or null
 *     cardan.colours(places)  [r, g, b, a] of the picture at places [x, y] of the view, from its left and lower edge, 0 to 1
 *     cardan.editor()       {text, selected, from}: the scene being written, and what is selected in it
 *     cardan.handle(axis)   {x, y} in page pixels of the middle of a handle ("X", "XY", ...) that moves things, or null
 *     cardan.paint(scene, theme)  the picture of a scene for the gallery, as a data URL
 */
/** @param {any} page */
export function installHooks(page) {
  const indexOf = (/** @type {string} */ name) => page.session?.scene.bodies.findIndex((/** @type {{name: string}} */ body) => body.name === name) ?? -1;
  /** From the view to the window. @param {{x: number, y: number}} at [px] */
  const inWindow = ({ x, y }) => {
    const { left, top } = page.view.stage.canvas.getBoundingClientRect();
    return { x: left + x, y: top + y };
  };
  const hooks = {
    stats() {
      const { render } = page.view.stage.renderer.info;
      return { calls: render.calls, triangles: render.triangles,
        slowestMs: page.drawn.slowest, bytes: page.session?.stream.bytes ?? 0, dropped: page.session?.dropped ?? 0 };
    },
    shown() {
      const { session, drawn } = page;
      return { step: drawn.step, time: drawn.time, mode: session?.mode ?? null, state: session?.state ?? null, edge: session?.edge ?? null };
    },
    sessionId: () => page.session?.id ?? null,
    pose(/** @type {string} */ name) {
      const at = 7 * indexOf(name);
      return at < 0 ? null : Array.from(page.view.poses.subarray(at, at + 7));
    },
    screen(/** @type {string} */ name) {
      const pose = hooks.pose(name);
      // the camera as it stands, drawn or not yet: a click asks the same one
      page.view.stage.camera.updateMatrixWorld();
      return pose && inWindow(page.view.stage.project(page.view.stage.controls.target.clone().fromArray(pose)));
    },
    camera: () => [...page.view.stage.camera.position.toArray(), ...page.view.stage.controls.target.toArray()],
    asleep: (/** @type {string} */ name) => page.view.bodies?.asleep[indexOf(name)] === 1,
    contacts: () => page.session?.numbers.contacts?.count ?? null,
    friction() {
      const force = page.session?.numbers.contacts?.friction;
      return force ? Array.from(force) : null;
    },
    limits: () => page.view.overlays?.limits?.shown ?? [],
    trust: () => page.charts.trust,
    pinned: () => page.charts.pinned.map((/** @type {import("./plot.js").Plot} */ plot) => ({ title: plot.kind.title, times: plot.series.times, values: plot.series.values })),
    ghost(/** @type {string} */ name) {
      const at = 7 * indexOf(name);
      const frame = page.view.ghost?.track.at(page.drawn.time);
      return frame ? Array.from(frame.poses.subarray(at, at + 3)) : null;
    },
    async colours(/** @type {[number, number][]} */ places) {
      return (await import("./colours.js")).coloursOf(page.view.stage, places);
    },
    editor: async () => (await page.sceneDialog)?.state() ?? null,
    handle(/** @type {string} */ axis) {
      const at = page.arrangement?.middleOf(axis);
      return at ? inWindow(at) : null;
    },
    flashes: () => ({ ...page.view.flashes?.drawn }),
    async paint(/** @type {import("./types.js").Scene} */ scene, /** @type {"dark" | "light"} */ theme) {
      page.painter ??= new (await import("./painter.js")).Painter();
      return page.painter.paint(scene, theme);
    },
    inertias() {
      const lines = page.view.extras?.tracks.inertias;
      return Array.from(lines?.position.array.subarray(0, 6 * lines.count) ?? []);
    },
    heat: () => page.view.extras?.heat.colours?.map((/** @type {import("three").Color | null} */ colour) => colour?.getHexString() ?? null) ?? null,
    drawn: () => ({ rods: page.view.links?.root.count ?? 0, anchors: page.view.overlays?.dots.anchor.mesh.count ?? 0, drives: page.view.extras?.drives.arrows.mesh.count ?? 0 }),
    ticks: (/** @type {number} */ index) => page.charts.standard[index].ticks,
    series(/** @type {number} */ index) {
      const { times, values } = page.charts.standard[index].series;
      return { times, values };
    },
  };
  Object.assign(window, { cardan: hooks });
}
