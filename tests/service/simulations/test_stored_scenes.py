"""Stored scenes in a real database: one change wins, bytes come back, owners see their own."""

from concurrent.futures import ThreadPoolExecutor

from cardan.service.stored_scenes import SceneContent


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
