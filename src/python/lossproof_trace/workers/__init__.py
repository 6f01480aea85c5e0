"""Into the workers of Ray: the tracer is carried to them by Ray itself, and their records are brought back. Ray is imported only
where the script has imported it."""
