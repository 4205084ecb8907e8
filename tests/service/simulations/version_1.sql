-- a queue as tables of version 1 held it: written by that version, dumped by SQLite
BEGIN TRANSACTION;
CREATE TABLE attempts (
	run_id VARCHAR NOT NULL, 
	attempt INTEGER NOT NULL, 
	owner VARCHAR NOT NULL, 
	started_at FLOAT NOT NULL, 
	ended_at FLOAT, 
	outcome VARCHAR, 
	PRIMARY KEY (run_id, attempt), 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "attempts" VALUES('sim_c9da73af534525c7d89e',1,'me',1.7953696638500154019e+09,1.79536966386757206913e+09,'succeeded');
INSERT INTO "attempts" VALUES('sim_ffb303bf55fd0d4d7a07',1,'me',1.79536966389003443717e+09,1.79536966390036129949e+09,'succeeded');
CREATE TABLE batches (
	seq INTEGER NOT NULL, 
	id VARCHAR NOT NULL, 
	name VARCHAR, 
	scene_hash VARCHAR NOT NULL, 
	parameters JSON NOT NULL, 
	metrics JSON NOT NULL, 
	max_parallel INTEGER, 
	on_failure VARCHAR NOT NULL, 
	stop_reason VARCHAR, 
	created_at FLOAT NOT NULL, 
	PRIMARY KEY (seq), 
	UNIQUE (id), 
	FOREIGN KEY(scene_hash) REFERENCES scenes (hash)
);
INSERT INTO "batches" VALUES(1,'batch_173678d0b5b31c9543a8','b','hash','["/x"]','[]',NULL,'continue',NULL,1.79536966387305665015e+09);
CREATE TABLE events (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_id VARCHAR NOT NULL, 
	type VARCHAR NOT NULL, 
	data JSON NOT NULL, 
	at FLOAT NOT NULL, 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "events" VALUES(1,'sim_c9da73af534525c7d89e','state','{"status":"queued"}',1.79536966383276963229e+09);
INSERT INTO "events" VALUES(2,'sim_c9da73af534525c7d89e','state','{"status":"starting","attempt":1}',1.79536966385627841944e+09);
INSERT INTO "events" VALUES(3,'sim_c9da73af534525c7d89e','state','{"status":"succeeded","attempt":1}',1.7953696638684253692e+09);
INSERT INTO "events" VALUES(4,'sim_ffb303bf55fd0d4d7a07','state','{"status":"queued"}',1.79536966388022422788e+09);
INSERT INTO "events" VALUES(5,'sim_b701e8d1d280faa63913','state','{"status":"queued"}',1.79536966388022422788e+09);
INSERT INTO "events" VALUES(6,'sim_ea1fbb34a35c9a4c9231','state','{"status":"queued"}',1.79536966388022422788e+09);
INSERT INTO "events" VALUES(7,'sim_ffa5fc733e924067e0f4','state','{"status":"queued"}',1.79536966388022422788e+09);
INSERT INTO "events" VALUES(8,'sim_ffb303bf55fd0d4d7a07','state','{"status":"starting","attempt":1}',1.79536966389067530634e+09);
INSERT INTO "events" VALUES(9,'sim_ffb303bf55fd0d4d7a07','state','{"status":"succeeded","attempt":1}',1.79536966390053915982e+09);
CREATE TABLE idempotency (
	"key" VARCHAR NOT NULL, 
	fingerprint VARCHAR NOT NULL, 
	resource VARCHAR, 
	created_at FLOAT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE runs (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR NOT NULL, 
	batch_id VARCHAR, 
	number INTEGER NOT NULL, 
	name VARCHAR, 
	scene_hash VARCHAR NOT NULL, 
	overrides JSON NOT NULL, 
	timeout_s FLOAT, 
	state VARCHAR NOT NULL, 
	priority INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	losses INTEGER NOT NULL, 
	owner VARCHAR, 
	lease_until FLOAT, 
	step INTEGER NOT NULL, 
	total_steps INTEGER NOT NULL, 
	real_time_factor FLOAT, 
	error JSON, 
	summary JSON, 
	result VARCHAR, 
	created_at FLOAT NOT NULL, 
	started_at FLOAT, 
	finished_at FLOAT, 
	UNIQUE (id), 
	FOREIGN KEY(batch_id) REFERENCES batches (id), 
	FOREIGN KEY(scene_hash) REFERENCES scenes (hash)
);
INSERT INTO "runs" VALUES(1,'sim_c9da73af534525c7d89e',NULL,0,'one','hash','{}',NULL,'succeeded',0,1,0,NULL,NULL,100,100,NULL,NULL,'{"a":1}','sim-1',1.79536966382323479648e+09,1.7953696638500154019e+09,1.7953696638654091358e+09);
INSERT INTO "runs" VALUES(2,'sim_ffb303bf55fd0d4d7a07','batch_173678d0b5b31c9543a8',0,NULL,'hash','{"/x":0}',NULL,'succeeded',1,1,0,NULL,NULL,10,10,NULL,NULL,'{"a":2}','sim-2',1.79536966387925338737e+09,1.79536966389003443717e+09,1.79536966389971208574e+09);
INSERT INTO "runs" VALUES(3,'sim_b701e8d1d280faa63913','batch_173678d0b5b31c9543a8',1,NULL,'hash','{"/x":1}',NULL,'queued',1,0,0,NULL,NULL,0,10,NULL,NULL,NULL,NULL,1.79536966387928295131e+09,NULL,NULL);
INSERT INTO "runs" VALUES(4,'sim_ea1fbb34a35c9a4c9231','batch_173678d0b5b31c9543a8',2,NULL,'hash','{"/x":2}',NULL,'queued',1,0,0,NULL,NULL,0,10,NULL,NULL,NULL,NULL,1.79536966387929105759e+09,NULL,NULL);
INSERT INTO "runs" VALUES(5,'sim_ffa5fc733e924067e0f4','batch_173678d0b5b31c9543a8',3,NULL,'hash','{"/x":3}',NULL,'queued',1,0,0,NULL,NULL,0,10,NULL,NULL,NULL,NULL,1.79536966387929725649e+09,NULL,NULL);
CREATE TABLE scenes (
	hash VARCHAR NOT NULL, 
	document TEXT NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "scenes" VALUES('hash','{"bodies": []}');
CREATE INDEX runs_by_number ON runs (batch_id, number);
CREATE INDEX runs_by_batch ON runs (batch_id, state);
CREATE INDEX runs_by_state ON runs (state, priority, seq);
CREATE INDEX ix_events_run_id ON events (run_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',5);
INSERT INTO "sqlite_sequence" VALUES('events',9);
COMMIT;
