"""Greets the world on the protocol's channel."""
import plain

plain.write("Loading the model...\n")
plain.serve(plain.good)
