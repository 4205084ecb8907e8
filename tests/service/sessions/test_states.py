"""What a session decides, event by event; nothing runs here."""

import pytest

from cardan.service.sessions import states as m
from cardan.service.sessions.states import Phase


def play(*events: m.Event, session: m.Session | None = None) -> tuple[m.Session, list[m.Effect]]:
    session = session or m.Session(max_restarts=2)
    effects: list[m.Effect] = []
    for event in events:
        session, now = m.decide(session, event)
        effects.extend(now)
    return session, effects


def reported(phase: Phase, epoch: int = 0) -> m.PhaseReported:
    return m.PhaseReported(phase, epoch)


RUNNING = (m.StartRequested(), m.WorkerReady(), reported(Phase.RUNNING))


def kinds(effects: list[m.Effect]) -> list[str]:
    return [e.type if isinstance(e, m.Announce) else type(e).__name__ for e in effects]


def test_a_start_spawns_one_worker_and_sends_what_waited():
    session, effects = play(m.StartRequested(), m.StartRequested(), m.WorkerReady())
    assert kinds(effects) == ["SpawnWorker", "SendPending"]
    assert session.phase is Phase.STARTING
    assert session.has_worker


def test_a_refused_scene_fails_with_the_engine_s_problem():
    problem = {"code": "scene_invalid", "detail": "no", "errors": []}
    session, effects = play(m.StartRequested(), m.SceneRefused(problem))
    assert session.phase is Phase.FAILED
    assert session.failure == problem
    assert kinds(effects)[1:] == ["StopWorker", "FailPending", "failed"]


def test_a_lost_worker_is_replaced_from_the_checkpoint_and_both_are_announced():
    session, effects = play(*RUNNING, m.WorkerDied("killed"))
    assert session.phase is Phase.RECOVERING
    assert session.restarts == 1
    assert kinds(effects)[-2:] == ["worker_lost", "SpawnWorker"]
    assert effects[-1] == m.SpawnWorker(resume=True)
    session, effects = play(m.WorkerReady(), reported(Phase.RUNNING), session=session)
    assert kinds(effects) == ["SendPending", "worker_resumed", "state"]
    assert session.phase is Phase.RUNNING


def test_a_worker_lost_too_often_fails_the_session():
    session, effects = play(*RUNNING, *[m.WorkerDied("killed")] * 3)
    assert session.phase is Phase.FAILED
    assert not session.has_worker
    assert session.failure is not None
    assert session.failure["code"] == "worker_lost"
    assert kinds(effects).count("SpawnWorker") == 1 + 2
    assert play(m.WorkerDied("again"), session=session) == (session, [])


def test_a_worker_lost_before_it_was_ready_is_replaced_twice_at_most():
    patient = m.Session(max_restarts=50)
    session, effects = play(m.StartRequested(), *[m.WorkerDied("killed")] * 9, session=patient)
    assert session.phase is Phase.FAILED
    assert kinds(effects).count("SpawnWorker") == m.MAX_LOST == 3


def test_a_stable_worker_wipes_out_earlier_losses():
    session, _ = play(*RUNNING, *[m.WorkerDied("killed")] * 2, m.WorkerStable())
    assert session.restarts == 0
    session, _ = play(m.WorkerDied("killed"), session=session)
    assert session.phase is Phase.RECOVERING


def test_a_new_epoch_is_announced_before_the_state():
    session, effects = play(*RUNNING, reported(Phase.PAUSED, epoch=1))
    assert session.epoch == 1
    assert kinds(effects)[-2:] == ["reset", "state"]


def test_the_end_is_announced_once():
    _, effects = play(*RUNNING, reported(Phase.FINISHED), reported(Phase.FINISHED))
    assert kinds(effects).count("finished") == 1


@pytest.mark.parametrize("op", ["resume", "step"])
def test_no_step_follows_the_end_but_a_reset_may(op: str):
    session, _ = play(*RUNNING, reported(Phase.FINISHED))
    assert m.refusal(session, op) is not None
    assert m.refusal(session, "reset") is None


def test_a_simulation_that_blew_up_can_be_reset():
    session, _ = play(*RUNNING, m.PhaseReported(Phase.FAILED, 0, {"code": "engine_diverged"}))
    assert m.refusal(session, "step") is not None
    assert m.refusal(session, "reset") is None
    session, _ = play(reported(Phase.PAUSED, epoch=1), session=session)
    assert session.failure is None


@pytest.mark.parametrize("op", ["pause", "reset", "grab", "state"])
def test_a_session_without_worker_for_good_takes_nothing(op: str):
    session, _ = play(*RUNNING, *[m.WorkerDied("killed")] * 3)
    assert m.refusal(session, op) is not None


def test_closing_is_final():
    session, effects = play(*RUNNING, m.CloseRequested("deleted"))
    assert session.phase is Phase.CLOSED
    assert kinds(effects)[-4:] == ["FailPending", "state", "Disconnect", "StopWorker"]
    assert play(m.WorkerDied("x"), m.StartRequested(), session=session) == (session, [])
    assert m.refusal(session, "pause") is not None


def test_workers_lost_at_earlier_steps_of_later_epochs_were_not_lost_at_one_step():
    patient = m.Session(max_restarts=50)
    events: list[m.Event] = []
    for epoch in range(9):
        events += [reported(Phase.RUNNING, epoch=epoch), m.WorkerDied("killed", 90 - epoch)]
    session, _ = play(m.StartRequested(), *events, session=patient)
    assert session.phase is Phase.RECOVERING


def test_workers_lost_at_one_step_fail_the_session_sooner_than_others():
    session = m.Session(max_restarts=5)
    session, _ = play(*RUNNING, session=session)
    for step in (10, 20, 20):
        session, _ = play(m.WorkerDied("gone", step), reported(Phase.RUNNING), session=session)
        assert session.phase is Phase.RUNNING
    session, effects = play(m.WorkerDied("gone", 20), session=session)
    assert session.phase is Phase.FAILED
    assert "StopWorker" in kinds(effects)
