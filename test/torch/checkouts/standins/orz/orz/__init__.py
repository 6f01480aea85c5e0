"""The stand-in."""
