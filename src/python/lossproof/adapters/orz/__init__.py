"""Open-Reasoner-Zero, https://github.com/Open-Reasoner-Zero/Open-Reasoner-Zero: an adapter of a clone, a file per stage. Its functions
run as they are; Ray, vLLM and DeepSpeed are played, and the CPU stands in for a GPU."""
