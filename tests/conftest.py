"""Settings that every test shares."""

import os

from hypothesis import settings

# No deadline: a shared machine may be slow, and that is not a bug of the code under test.
# CI tries the same examples every time, so that a change that it refuses is what broke them.
settings.register_profile(
    "pathscope", deadline=None, derandomize="CI" in os.environ, print_blob=True
)
settings.load_profile("pathscope")
