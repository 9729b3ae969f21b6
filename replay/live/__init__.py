"""A trace's messages sent again by a real stack; `pathscope.live` compares what came of it."""
