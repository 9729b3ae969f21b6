//! What becomes of a frame between the capture and the wire.
