"""The driver of `lossproof check --ray`: puts the shards of a run on a Ray cluster and tells how each of them goes.

    python -m lossproof_ray < job

One line of JSON comes in (`_job`), lines of JSON go out (`_say`). `_cluster` finds the cluster and refuses what could never run
on it, `_environment` is what the nodes are sent, `_supervise` runs the shards and runs again what was lost. What runs on the
nodes is `_node` and, between it and the engine, `_guard`: both are sent there, so that a node needs Node.js and the engine, and
nothing of this package. Standard library and Ray only; Ray is imported by none but the driver's modules, and by them when it
is needed.
"""
