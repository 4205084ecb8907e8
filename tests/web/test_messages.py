"""Messages of the page: faults that say the same are one."""

from tests.web.modules import run_module


def test_faults_that_say_the_same_are_one_with_its_first_and_last_place(node: str) -> None:
    faults = [
        {"pointer": "/bodies/0/mas", "message": "Unknown field `mas`", "hint": "mass?"},
        {"pointer": "", "message": "No body moves"},
        {"pointer": "/bodies/1/mas", "message": "Unknown field `mas`", "hint": "mass?"},
        {"pointer": "/joints/0/mas", "message": "Unknown field `mas`"},
        {"pointer": "/bodies/7/mas", "message": "Unknown field `mas`", "hint": "mass?"},
    ]
    found = run_module(node, "messages.js", "gathered", "return gathered(input);", faults)
    assert [one["place"] for one in found] == [
        "/bodies/0/mas and 2 more, the last /bodies/7/mas",
        "/",
        "/joints/0/mas",
    ]
    assert [one["fault"] for one in found] == [faults[0], faults[1], faults[3]]
