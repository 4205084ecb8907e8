-- what made tables of each version from those of the one before, while versions were numbers
-- version 2
ALTER TABLE batches ADD COLUMN record VARCHAR DEFAULT 'full' NOT NULL;
-- version 3
ALTER TABLE batches ADD COLUMN study_id VARCHAR;
ALTER TABLE batches ADD COLUMN measure JSON;
ALTER TABLE batches ADD COLUMN created_by VARCHAR;
ALTER TABLE runs ADD COLUMN created_by VARCHAR;
CREATE TABLE studies (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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
    UNIQUE (id),
    FOREIGN KEY(batch_id) REFERENCES batches (id)
);
-- version 4
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
-- version 5
ALTER TABLE runs ADD COLUMN trace VARCHAR;
-- version 6
ALTER TABLE batches ADD COLUMN stored_scene JSON;
ALTER TABLE runs ADD COLUMN stored_scene JSON;
CREATE TABLE stored_scenes (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    document BLOB NOT NULL,
    digest VARCHAR NOT NULL,
    scene_hash VARCHAR NOT NULL,
    bytes INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    created_by VARCHAR,
    created_at FLOAT NOT NULL,
    updated_at FLOAT NOT NULL,
    used_at FLOAT NOT NULL,
    UNIQUE (id)
);
CREATE INDEX ix_stored_scenes_created_by ON stored_scenes (created_by);
-- version 7
CREATE TABLE scene_revisions (
    scene_id VARCHAR NOT NULL,
    revision INTEGER NOT NULL,
    name VARCHAR NOT NULL,
    digest VARCHAR NOT NULL,
    scene_hash VARCHAR NOT NULL,
    bytes INTEGER NOT NULL,
    updated_at FLOAT NOT NULL,
    document BLOB NOT NULL,
    PRIMARY KEY (scene_id, revision),
    FOREIGN KEY(scene_id) REFERENCES stored_scenes (id) ON DELETE CASCADE
);
