"""Settings that every test shares."""

from hypothesis import settings

# No deadline: a shared machine may be slow, and that is not a bug of the code under test.
settings.register_profile("pathscope", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("pathscope")
