"""Settings that every test shares."""

import os
import signal

import pytest
from hypothesis import settings

# No deadline: a shared machine may be slow, and that is not a bug of the code under test.
# CI tries the same examples every time, so that a change that it refuses is what broke them.
settings.register_profile(
    "pathscope", deadline=None, derandomize="CI" in os.environ, print_blob=True
)
settings.load_profile("pathscope")

# A shell ignores these in what it starts in the background, and so would what the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let one process at a time boot guests, from the start; each other file is one process's.

    A guest has to keep time, which two of them on two processors cannot.
    """
    for item in items:
        boots = item.get_closest_marker("guest") is not None
        item.add_marker(pytest.mark.xdist_group("guest" if boots else str(item.path)))
    items.sort(key=lambda item: item.get_closest_marker("guest") is None)
