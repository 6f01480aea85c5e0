"""What a script brings with it: tokenizers, its trainers' arguments, its data loaders, what it compiles. Only `_arm` and `sampling`
import it, a file when the script imports what that file wraps; imports `forward`, `models` and `recording`."""
