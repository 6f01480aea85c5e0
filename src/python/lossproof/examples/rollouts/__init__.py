"""Sampling, and what is made of its ids."""
