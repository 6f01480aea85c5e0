"""One advantage too many on the marked case; a string, a null and a stranger on other marks."""
import plain

WRONG = {
    13.0: {"advantages": [0.0, 0.0, 0.0]},
    14.0: {"advantages": ["x"]},
    15.0: {"advantages": [None]},
    16.0: {"advantage": [0.0]},
    17.0: {},
}


def answer(request):
    rewards = request["args"]["rewards"]
    plain.say(request, ok=WRONG.get(rewards[0], {"advantages": rewards}))


plain.serve(answer)
