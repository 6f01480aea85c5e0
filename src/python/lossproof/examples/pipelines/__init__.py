"""Several losses on the data of one buffer."""
