"""One line of JSON in, one out: `{"load": "float32"}`, then `{"rows": [[prompt, completion], ...]}`.

Standard output is the channel: whatever a library prints goes to standard error. Nothing is fetched from the network, and no
code of the model folder runs.
"""

import gc
import json
import os
import sys


def main(folder):
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A folder that is not there is otherwise looked for as a name on the hub.
    os.environ["HF_HUB_OFFLINE"] = "1"
    desk = Desk(folder)
    for line in sys.stdin:
        try:
            answer = desk.answer(json.loads(line))
        except Exception as error:  # The caller shows the sentence: anything of a library may be raised here.
            answer = {"problem": f"{type(error).__name__}: {error}"[:2000]}
        channel.write(json.dumps(answer) + "\n")
        channel.flush()


class Desk:
    """Holds one model at a time."""

    def __init__(self, folder):
        self.folder = folder
        self.scorer = None

    def answer(self, asked):
        from ._score import Scorer

        if "load" in asked:
            # Two copies of the weights may not fit.
            self.scorer = None
            gc.collect()
            self.scorer = Scorer(self.folder, asked["load"])
            return self.scorer.about()
        return {"logprobs": self.scorer.rows(asked["rows"]), "routes": self.scorer.routes}


if __name__ == "__main__":
    main(sys.argv[1])
