"""What `lossproof mutate` puts into a trainer's process: small changes of its own Python, one at a time, never on disk.

    PYTHONPATH=.../lossproof_mutate/bootstrap LOSSPROOF_MUTATE=FOLDER python adapter.py

`_arm` is run by a `sitecustomize` before the adapter's first line. Where the adapter calls `lossproof.serve`, `_server` takes its
turn: it lists the changes (`_changes`; what each kind looks for is in `kinds/`), says so in FOLDER, and waits. For each of them
the engine starts `_client`, which hands its own pipes over a socket of FOLDER, and a fork of the process that has imported
everything answers on them: with one change in its live functions (`_live`), or with none and a record of the lines that it ran
(`_lines`). A change that a running process cannot take is taken by a fresh one when it imports the file (`_finder`).

Standard library only. The SDK is imported by the adapter and never before it: importing it takes standard output.
"""
