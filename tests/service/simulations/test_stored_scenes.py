"""Stored scenes in a real database: one change wins, bytes come back, owners see their own."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from cardan.service import clock
from cardan.service.shares import Shares
from cardan.service.simulations import tables as t
from cardan.service.stored_scenes import KeptRevisions, SceneContent, StoredScenes


def content(text, digest=None, name="n"):
    return SceneContent(text.encode(), digest or text, name, "hash")


def test_of_many_changes_of_one_text_one_is_made(desk):
    scene_id = desk.scenes.create(content("first"), "me")
    with ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(
                lambda n: desk.scenes.replace(scene_id, "first", content(f"change {n}")), range(8)
            )
        )
    assert sum(made) == 1
    row = desk.scenes.with_document(scene_id)
    assert row["document"] == f"change {made.index(True)}".encode()
    assert row["revision"] == 2
    assert not desk.scenes.remove(scene_id, "first")
    assert desk.scenes.remove(scene_id, row["digest"])
    assert desk.scenes.get(scene_id) is None
    assert not desk.scenes.replace(scene_id, row["digest"], content("late"))


def test_texts_come_back_to_the_byte_and_are_not_in_lists(desk):
    text = "\0 \u00e9 \U0001f309 " + 2_000_000 * " "
    scene_id = desk.scenes.create(content(text, "d"), None)
    found = desk.scenes.with_document(scene_id)["document"]
    assert type(found) is bytes
    assert found == text.encode()
    (row,) = desk.scenes.page(before=None, size=5)
    assert (row["id"], row["bytes"]) == (scene_id, len(text.encode()))
    assert "document" not in row


def test_names_of_any_characters_are_kept(desk):
    """PostgreSQL refuses NUL in texts."""
    scene_id = desk.scenes.create(content("a", name="\0 \u202e \U0001f309"), None)
    assert desk.scenes.get(scene_id)["name"] == "\ufffd \u202e \U0001f309"
    run = desk.simulation(name="a\0b")
    assert desk.catalog.run(run)["name"] == "a\ufffdb"


def count(engine, table):
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


@pytest.mark.parametrize(
    ("kept", "left"),
    [
        (KeptRevisions(3, 1000), [5, 4, 3, 2]),
        (KeptRevisions(9, 6), [5, 4, 3, 2]),
        (KeptRevisions(9, 5), [5, 4, 3]),
        (KeptRevisions(9, 1), [5]),
        (KeptRevisions(0, 1000), [5]),
    ],
)
def test_the_newest_revisions_are_kept_within_a_count_and_bytes(desk, kept, left):
    scenes = StoredScenes(desk.open(), kept)
    other = scenes.create(content("o"), "you")
    assert scenes.replace(other, "o", content("p"))
    scene_id = scenes.create(content("v1"), "me")
    for number in range(1, 5):
        assert scenes.replace(scene_id, f"v{number}", content(f"v{number + 1}"))
    assert [row["revision"] for row in scenes.revisions(scene_id)] == left
    for number in range(1, 7):
        row = scenes.revision(scene_id, number)
        assert (None if row is None else row["document"]) == (
            f"v{number}".encode() if number in left else None
        )
    assert scenes.bytes_of("me") == 2 * len(left)
    # neither the same text again nor a change that comes too late makes one
    assert scenes.replace(scene_id, "v5", content("v5"))
    assert not scenes.replace(scene_id, "v4", content("late"))
    assert [row["revision"] for row in scenes.revisions(scene_id)] == left
    assert len(scenes.revisions(other)) == (2 if kept.count else 1)


def test_deletion_takes_revisions_and_links_along(desk):
    engine = desk.open()
    shares = Shares(engine, ())
    for remove in (desk.scenes.remove, lambda _: desk.scenes.remove_unused(clock.now() + 1.0)):
        scene_id = desk.scenes.create(content("a"), "me")
        assert desk.scenes.replace(scene_id, "a", content("b"))
        shares.issue("scenes", scene_id, "", 99.0, "me")
        shares.issue("simulations", "sim_1", "", 99.0, "me")
        assert (count(engine, t.scene_revisions), count(engine, t.shares)) == (1, 2)
        assert remove(scene_id)
        assert (count(engine, t.scene_revisions), count(engine, t.shares)) == (0, 1)
        assert desk.scenes.revisions(scene_id) == []
        with engine.execution_options(writes=True).begin() as connection:
            connection.execute(t.shares.delete())


def test_owners_have_lists_and_bytes_of_their_own(desk):
    for owner, text in (("me", "aa"), ("you", "bbbb"), ("me", "c"), (None, "dd")):
        desk.scenes.create(content(text), owner)
    mine = desk.scenes.page(before=None, size=9, created_by="me")
    assert [row["bytes"] for row in mine] == [1, 2]
    assert [row["bytes"] for row in desk.scenes.page(before=mine[0]["seq"], size=1)] == [4]
    assert (desk.scenes.bytes_of("me"), desk.scenes.bytes_of("nobody")) == (3, 0)
    again = desk.scenes.replace(mine[1]["id"], "aa", content("aa"))
    assert again
    assert desk.scenes.get(mine[1]["id"])["revision"] == 1
