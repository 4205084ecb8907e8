"""Videos of the view."""

from typing import Any

import pytest

from tests.web.shown import Shown

pytestmark = pytest.mark.e2e


def test_the_end_of_a_video_that_nobody_began_is_refused(page: Any, shown: Shown) -> None:
    shown.open("incline")
    said = page.evaluate(
        """async () => {
          const { stopVideo } = await import("/film.js");
          return stopVideo({ onRendered: null }).then(() => "a film", (error) => error.message);
        }"""
    )
    assert said == "No video is being recorded."
