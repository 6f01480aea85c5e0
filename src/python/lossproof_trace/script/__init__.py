"""What a script does beside calling its models: steps of its optimisers, generate(), its tokenizers, its trainers' arguments.
Only `_arm` imports it, a file when the script imports what that file wraps; imports `models` and `recording`."""
