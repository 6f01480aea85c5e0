"""Speaks a protocol of the future."""
import plain

plain.serve(plain.good, hello={**plain.HELLO, "protocol": 2})
