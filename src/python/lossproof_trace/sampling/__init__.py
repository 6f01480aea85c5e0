"""Who samples, and what: generate(), loops of the script's own, engines, servers, and what the script tells itself. Only `_arm` and
`watch_sample` import it, a file when the script imports what that file wraps; imports `script`, `forward`, `models` and `recording`."""
