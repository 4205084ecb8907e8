"""Requests through the real door do not wait behind larger ones."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.service.compute.test_pool import scene_of

pytestmark = pytest.mark.e2e
JSON = {"Content-Type": "application/json"}


def test_small_scenes_overtake_large_ones(client):
    large = scene_of(3000)

    def post(body):
        return client.post("/v1/simulations", content=body, headers=JSON)

    with ThreadPoolExecutor(3) as callers:
        waiting = [callers.submit(post, large) for _ in range(3)]
        small = [post(json.dumps({"scene": "double-pendulum"})) for _ in range(2)]
        overtaken = sum(not one.done() for one in waiting)
        answers = [one.result(90) for one in waiting]
    assert [one.status_code for one in small] == [202, 202]
    assert overtaken >= 2
    assert [one.status_code for one in answers] == [202] * 3
    for one in answers + small:
        client.post(f"{one.json()['links']['self']}:cancel").raise_for_status()
