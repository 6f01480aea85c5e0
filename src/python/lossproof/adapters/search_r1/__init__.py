"""Search-R1, https://github.com/PeterGriffinJin/Search-R1: an adapter of a clone, a file per stage. Its functions, and those of the verl
that it brings along, run as they are; Ray, vLLM and the search engine are played."""
