"""From one capture to thousands: analyzed in parts, by this process or others, into a dataset."""
