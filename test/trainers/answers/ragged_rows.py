"""Log-probabilities without the padding."""
import plain

plain.serve(lambda request: plain.say(request, ok={"logprobs": [[0.0, -1.0, -2.0], [0.0, -1.0]]}))
