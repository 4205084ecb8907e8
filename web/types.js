/**
 * The nouns of the page, as types. SI units and radians throughout; world axes W with z up.
 * Scene documents keep quaternions as [w, x, y, z]; everything decoded for drawing is [x, y, z, w].
 *
 * @typedef {[number, number, number]} Vec3
 * @typedef {[number, number, number, number]} Quat
 *
 * @typedef {object} Shape            one shape of a body; which size fields are there depends on `type`
 * @property {string} type
 * @property {Vec3} [position]        m, in the body
 * @property {Quat} [orientation]     [w, x, y, z], in the body
 * @property {number} [radius]
 * @property {number} [length]
 * @property {number} [inner_radius] of a tube or bowl
 * @property {number} [outer_radius]
 * @property {number} [major_radius]  of a ring
 * @property {number} [minor_radius]
 * @property {number} [angle]         rad, of a bowl
 * @property {Vec3} [size]            full edge lengths
 * @property {Vec3} [radii]
 * @property {Vec3} [normal]
 * @property {number} [offset]
 * @property {Vec3[]} [points]
 * @property {Vec3[]} [vertices]
 * @property {number[][]} [faces]
 * @property {number[][]} [heights]
 * @property {string} [material]
 * @property {string | number[]} [color]
 * @property {number} [opacity]       of a visual
 * @property {string} [mesh]          of a visual: name of a mesh of the scene
 *
 * @typedef {object} RunSummary       what the page reads of a summary
 * @property {{status: "trusted" | "suspect" | "wrong"}} verdict
 * @property {string[]} warnings      findings as sentences, and notes
 * @property {{horizon: number, horizon_step: number, within: boolean, position_error: number, velocity_error: number} | null} [verification]  by smaller steps
 * @property {{position_error: number | null} | null} [accuracy]  of a run that was asked for one
 * @property {{formulation: string | null, methods: string[]}} solver  what `auto` became
 * @property {{max_linear_drift: number | null, max_angular_drift: number | null}} [momentum]  of an isolated scene, kg m/s and kg m^2/s
 *
 * @typedef {object} Body
 * @property {string} name
 * @property {"dynamic" | "static" | "kinematic"} [type]
 * @property {Vec3} [position]
 * @property {Quat} [orientation]
 * @property {number} [mass]          kg
 * @property {number} [density]       kg/m3
 * @property {Vec3} [center_of_mass]
 * @property {number[]} [inertia]
 * @property {Shape[]} [shapes]
 * @property {Shape[]} [visuals]      what is seen instead of the shapes
 * @property {boolean} [present]      whether it is there at the start
 * @property {number | null} [appears]  s
 * @property {number | null} [vanishes]  s
 *
 * @typedef {{times: number[], values: number[], interpolation?: string}} Series
 *
 * @typedef {object} BallMotor        its targets are vectors
 * @property {"velocity" | "position" | "force"} type
 * @property {Vec3 | {times: number[], values: Vec3[], interpolation?: string}} target
 *
 * @typedef {object} Motor
 * @property {"velocity" | "position" | "force"} type
 * @property {number | Series} target  of a ball: one of its three components
 * @property {number} [max_force]
 *
 * @typedef {object} Limits
 * @property {number} [lower]
 * @property {number} [upper]
 * @property {number} [swing]         rad, of a ball
 * @property {number} [twist]         rad, of a ball
 *
 * @typedef {object} Joint
 * @property {string} name
 * @property {string} type
 * @property {string} parent
 * @property {string} child
 * @property {Vec3} [anchor]
 * @property {Vec3} [anchor2]
 * @property {Vec3} [axis]
 * @property {Vec3} [axis2]
 * @property {"world" | "parent"} [frame]
 * @property {Vec3} [direction]       of a planar joint: its first displacement
 * @property {Motor | BallMotor | null} [motor]
 * @property {Motor | null} [motor2]
 * @property {Motor | null} [motor3]
 * @property {Limits | null} [limits]
 * @property {Limits | null} [limits2]
 * @property {Limits | null} [limits3]
 * @property {{position?: number | number[], velocity?: number | number[]}} [initial]
 * @property {number} [ratio]         of gear and rack
 * @property {number} [pitch]         m per turn of a screw
 * @property {number} [breaking_force]
 * @property {Wheel | null} [wheel]   of a distance joint: its cable is wound on it
 * @property {Wheel | null} [wheel2]
 *
 * @typedef {{radius: number, axis: Vec3}} Wheel
 *
 * @typedef {object} ImportNote      one thing a scene does not say as the imported model did
 * @property {"dropped" | "approximated" | "guessed"} kind
 * @property {string} code
 * @property {string} message
 * @property {string[]} where
 *
 * @typedef {{scene: Scene, report: {notes: ImportNote[], name: string, source: string}}} Imported
 *
 * @typedef {object} Scene
 * @property {string} [name]
 * @property {string} [description]
 * @property {Vec3} [gravity]
 * @property {{dt?: number, duration?: number, formulation?: string, integrator?: string,
 *   orientation_update?: string, stabilisation?: string | null, contact?: {friction_cone?: string, directions?: number, restitution_law?: string}, solver?: {method?: string, tolerance?: number, max_iterations?: number}}} [simulation]
 * @property {{every?: number, rate?: number | null}} [record]
 * @property {Body[]} bodies
 * @property {Joint[]} [joints]
 * @property {{name: string, do: {op: string, body?: string, value?: number[]}[]}[]} [triggers]
 * @property {Record<string, {vertices: Vec3[], faces: number[][]}>} [meshes]  that visuals show
 *
 * @typedef {object} Example
 * @property {string} name
 * @property {string} title
 * @property {string} description
 * @property {number} bodies
 * @property {number} joints
 * @property {number} duration        s
 * @property {string} url
 *
 * @typedef {object} SessionInfo      the session object of the API
 * @property {string} id
 * @property {string} state
 * @property {number} step
 * @property {number} time
 * @property {number | null} speed
 * @property {number} epoch
 * @property {{session: string, epoch: number, step: number, time: number} | null} [forked_from]
 * @property {{from_step: number, to_step: number, spacing: number}} [history]
 * @property {number} [viewers]
 * @property {string | null} [control]  client id of the viewer that steers; null: everybody does
 * @property {string} [name]
 * @property {number} [time_step]     s; 0: not known yet
 * @property {string} created_at      UTC
 * @property {{code?: string, message?: string, detail?: string} | null} [failure]
 *
 * @typedef {object} SimulationInfo   a simulation of the queue
 * @property {string} id
 * @property {"queued" | "starting" | "running" | "cancelling" | "succeeded" | "failed" | "cancelled" | "timed_out"} status
 * @property {string} name
 * @property {number} progress        0 ... 1
 * @property {number} step
 * @property {number} total_steps
 * @property {number | null} real_time_factor
 * @property {string} created_at      UTC
 * @property {string | null} started_at
 * @property {string | null} finished_at
 * @property {{code?: string, message?: string, step?: number, time?: number, body?: string, joint?: string, quantity?: string} | null} error
 *
 * @typedef {object} BatchInfo
 * @property {string} id
 * @property {string} status
 * @property {string} name
 * @property {number} runs
 * @property {Record<string, number>} counts  runs by state
 * @property {number} progress
 * @property {{message?: string} | null} error
 * @property {string} created_at
 * @property {string | null} started_at
 * @property {string | null} finished_at
 *
 * @typedef {object} BatchResults     one row per run
 * @property {{parameters: string[], metrics: string[]}} metadata
 * @property {string[]} columns
 * @property {Record<string, unknown>[]} rows
 *
 * @typedef {object} StudyInfo
 * @property {string} id
 * @property {string} status
 * @property {string} method
 * @property {string} name
 * @property {number} evaluations      runs that have ended
 * @property {number} max_evaluations
 * @property {{run: number, simulation: string, values: Record<string, number>, deviations: Record<string, number> | null, objective: number, feasible: boolean} | null} best
 * @property {string | null} reason
 * @property {{code: string, message: string} | null} error
 * @property {string} created_at
 * @property {string | null} finished_at
 * @property {Record<string, string>} links
 *
 * @typedef {object} Preview          what is known of a scene before it runs
 * @property {number | null} degrees_of_freedom
 * @property {{joint: string, equations: number}[]} redundant
 * @property {{body: string, other_body: string, depth: number}[]} overlaps  m
 * @property {string[]} loose
 * @property {{stiffness: number | null, speed: number | null, rotation: number | null}} steps  s
 *
 * @typedef {{op: string, epoch: number, step: number}} LoggedCommand
 *
 * @typedef {{joint: string, axis: number, target: number}} MotorTarget  that was commanded
 *
 * @typedef {object} VerificationSection
 * @property {string} name
 * @property {string} title
 * @property {string} intro
 * @property {{case: string, source: string, what: string, asked: string, reached: string, ok: boolean}[]} rows
 * @property {{name: string, title: string}[]} plots
 *
 * @typedef {object} Verification     what was asked of the engine and what it reached
 * @property {string} engine
 * @property {VerificationSection[]} sections
 *
 * @typedef {object} ExpectedNumber   of a comparison: by theory, with what may be missing from it
 * @property {string} what
 * @property {number} run             0 or 1
 * @property {string} body
 * @property {"x" | "y" | "z" | "vx" | "vy" | "vz" | "angle" | "normal_force"} of  angle: about z, without whole turns
 * @property {number} at              s
 * @property {number} expected
 * @property {number} within
 * @property {string} unit
 *
 * @typedef {object} Comparing        an entry of comparisons.json: one scene, two runs
 * @property {string} name
 * @property {string} title
 * @property {string} look            what to look at
 * @property {Scene} scene
 * @property {{label: string, overrides: Record<string, unknown>}[]} runs
 * @property {string} source          of the numbers
 * @property {ExpectedNumber[]} numbers
 *
 * @typedef {object} Readiness        of the service; `status` is "ready", or 503
 * @property {"ready" | number} status
 * @property {Record<string, boolean>} [checks]
 * @property {{done: number, total: number, what: string}} [kernels]
 *
 * @typedef {object} Fault            one entry of `errors` of a problem document
 * @property {string} pointer
 * @property {string} [code]
 * @property {string} message
 * @property {unknown} [got]
 * @property {string | null} [hint]
 *
 * @typedef {object} Problem          application/problem+json
 * @property {string} title
 * @property {string} [type]          its row in the manual
 * @property {number} [status]
 * @property {string} [detail]
 * @property {string} [code]
 * @property {string} [request_id]
 * @property {boolean} [retryable]
 * @property {Fault[]} [errors]
 *
 * @typedef {object} Contacts         columns over the contacts of one step
 * @property {number} count
 * @property {Float32Array} values    9 per contact: p (3), n (3), gap, normal force, friction force
 * @property {Uint16Array} bodies     2 per contact
 * @property {Float32Array | null} friction  4 per contact: force on the second body (3), coefficient (not a number: unknown); null: not asked for
 *
 * @typedef {object} JointCoordinate
 * @property {number} joint           index in the scene
 * @property {number} coordinate
 * @property {number} q               rad or m
 * @property {number} qd              rad/s or m/s
 * @property {number} motorForce      N m or N
 *
 * @typedef {object} Energy           J; the last five are cumulative
 * @property {number} kinetic
 * @property {number} potential
 * @property {number} total
 * @property {number} workIn
 * @property {number} friction
 * @property {number} impact
 * @property {number} damping
 * @property {number} correction
 *
 * @typedef {object} SolverNumbers
 * @property {number} rows
 * @property {number} contacts
 * @property {number} iterations
 * @property {number} residual
 * @property {number} coulombError
 * @property {number} maxPenetration      m
 * @property {number} jointPositionError  m
 * @property {number} stepUs              microseconds per step
 * @property {number} realTimeFactor      simulated over elapsed time
 * @property {number} collisionUs
 * @property {number} solveUs
 * @property {number} otherUs
 *
 * @typedef {object} Grab
 * @property {number} body
 * @property {Vec3} point             W, where the spring holds the body
 * @property {Vec3} target            W, where it pulls to
 * @property {Vec3} force             N, W
 *
 * @typedef {object} Happening        an event of the simulation
 * @property {"begin" | "end" | "break" | "trigger" | "appear" | "vanish"} kind  two shapes begin or cease to touch; a joint breaks; a trigger fires; a body comes or goes
 * @property {number} time            s
 * @property {number} step
 * @property {Vec3} point             W
 * @property {Vec3} normal            W, from the first body to the second; of a break along the force
 * @property {number} speed           m/s, of approach
 * @property {[number, number]} bodies  parent and child of a joint; beyond the last: the world
 * @property {[number, number]} shapes  within their bodies; 65535: none
 * @property {number} joint           65535: none; of a trigger its number
 *
 * @typedef {object} Frame            one decoded binary message
 * @property {boolean} key            a key frame: complete, and the answer to `seek`
 * @property {boolean} paused
 * @property {boolean} failed
 * @property {boolean} gap            frames before this one are gone for good
 * @property {number} epoch
 * @property {number} sequence
 * @property {number} step
 * @property {number} time            s
 * @property {number} dropped
 * @property {number} bytes
 * @property {Float32Array | null} poses  7 per body: p (3), q as x y z w; not numbers: it is absent
 * @property {Float32Array | null} [velocities]  6 per body: v of the origin, w, in W; of recordings, and while something shows them
 * @property {number[] | null} momentum  6: linear, and angular about the origin of W [N s, N m s]
 * @property {Float32Array | null} reactions  6 per joint: force and torque on its child at the anchor, in W [N, N m]; while something shows them
 * @property {Contacts | null} contacts
 * @property {JointCoordinate[] | null} joints
 * @property {Energy | null} energy
 * @property {SolverNumbers | null} solver
 * @property {Grab | null} grab
 * @property {bigint | null} stateHash
 * @property {Happening[] | null} happenings  since the frame before
 * @property {Uint8Array | null} asleep       1 for each body that sleeps; null: none can
 *
 * @typedef {{kind: "body" | "joint", index: number}} Selection
 */
export {};
