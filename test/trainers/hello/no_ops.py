"""Forgets to say what it can do."""
import plain

plain.serve(plain.good, hello={"protocol": 1, "name": "no-ops"})
