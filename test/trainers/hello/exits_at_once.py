"""Ends before it reads anything."""
