"""A trace's messages sent again by a real stack; `pathscope.live` also compares what came of it."""
