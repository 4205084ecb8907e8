-- tables of version 4, the first on PostgreSQL, and what made those of each version after it
-- version 4
CREATE TABLE idempotency (
    key VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    resource VARCHAR,
    created_at FLOAT NOT NULL,
    PRIMARY KEY (key)
);
CREATE TABLE scenes (
    hash VARCHAR NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (hash)
);
CREATE TABLE shares (
    id VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    resource VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    created_by VARCHAR,
    created_at FLOAT NOT NULL,
    expires_at FLOAT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (digest)
);
CREATE INDEX shares_by_resource ON shares (kind, resource);
CREATE TABLE batches (
    seq BIGSERIAL NOT NULL,
    id VARCHAR NOT NULL,
    name VARCHAR,
    scene_hash VARCHAR NOT NULL,
    parameters JSON NOT NULL,
    metrics JSON NOT NULL,
    max_parallel BIGINT,
    on_failure VARCHAR NOT NULL,
    record VARCHAR DEFAULT 'full' NOT NULL,
    study_id VARCHAR,
    measure JSON,
    stop_reason VARCHAR,
    created_by VARCHAR,
    created_at FLOAT NOT NULL,
    PRIMARY KEY (seq),
    UNIQUE (id),
    FOREIGN KEY(scene_hash) REFERENCES scenes (hash)
);
CREATE TABLE runs (
    seq BIGSERIAL NOT NULL,
    id VARCHAR NOT NULL,
    batch_id VARCHAR,
    number BIGINT NOT NULL,
    name VARCHAR,
    scene_hash VARCHAR NOT NULL,
    overrides JSON NOT NULL,
    timeout_s FLOAT,
    state VARCHAR NOT NULL,
    priority BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    losses BIGINT NOT NULL,
    owner VARCHAR,
    lease_until FLOAT,
    step BIGINT NOT NULL,
    total_steps BIGINT NOT NULL,
    real_time_factor FLOAT,
    error JSON,
    summary JSON,
    result VARCHAR,
    created_by VARCHAR,
    created_at FLOAT NOT NULL,
    started_at FLOAT,
    finished_at FLOAT,
    PRIMARY KEY (seq),
    UNIQUE (id),
    FOREIGN KEY(batch_id) REFERENCES batches (id),
    FOREIGN KEY(scene_hash) REFERENCES scenes (hash)
);
CREATE INDEX runs_by_batch ON runs (batch_id, state);
CREATE INDEX runs_by_number ON runs (batch_id, number);
CREATE INDEX runs_by_state ON runs (state, priority, seq);
CREATE TABLE studies (
    seq BIGSERIAL NOT NULL,
    id VARCHAR NOT NULL,
    batch_id VARCHAR NOT NULL,
    name VARCHAR,
    asked JSON NOT NULL,
    method VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    best JSON,
    reason VARCHAR,
    error JSON,
    created_by VARCHAR,
    created_at FLOAT NOT NULL,
    finished_at FLOAT,
    PRIMARY KEY (seq),
    UNIQUE (id),
    FOREIGN KEY(batch_id) REFERENCES batches (id)
);
CREATE TABLE attempts (
    run_id VARCHAR NOT NULL,
    attempt BIGINT NOT NULL,
    owner VARCHAR NOT NULL,
    started_at FLOAT NOT NULL,
    ended_at FLOAT,
    outcome VARCHAR,
    PRIMARY KEY (run_id, attempt),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE events (
    seq BIGSERIAL NOT NULL,
    run_id VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    data JSON NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (seq),
    FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE INDEX ix_events_run_id ON events (run_id);
-- version 5
ALTER TABLE runs ADD COLUMN trace VARCHAR;
-- version 6
ALTER TABLE batches ADD COLUMN stored_scene JSON;
ALTER TABLE runs ADD COLUMN stored_scene JSON;
CREATE TABLE stored_scenes (
    seq BIGSERIAL NOT NULL,
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    document BYTEA NOT NULL,
    digest VARCHAR NOT NULL,
    scene_hash VARCHAR NOT NULL,
    bytes BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    created_by VARCHAR,
    created_at FLOAT NOT NULL,
    updated_at FLOAT NOT NULL,
    used_at FLOAT NOT NULL,
    PRIMARY KEY (seq),
    UNIQUE (id)
);
CREATE INDEX ix_stored_scenes_created_by ON stored_scenes (created_by);
-- version 7
CREATE TABLE scene_revisions (
    scene_id VARCHAR NOT NULL,
    revision BIGINT NOT NULL,
    name VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    scene_hash VARCHAR NOT NULL,
    bytes BIGINT NOT NULL,
    updated_at FLOAT NOT NULL,
    document BYTEA NOT NULL,
    PRIMARY KEY (scene_id, revision),
    FOREIGN KEY(scene_id) REFERENCES stored_scenes (id) ON DELETE CASCADE
);
