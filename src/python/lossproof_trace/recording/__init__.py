"""Where records go: the session that all parts share, the file that it writes, how the process ends. Works before torch is
imported and imports nothing of the tracer; any folder may import it."""
