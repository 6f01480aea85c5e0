"""The prompt of a model that knows no turns."""

from orz.ppo import PromptDataset


class CustomDataset(PromptDataset):
    def process_dialogue(self, dialogue):
        bos = self.tokenizer.bos_token or ""
        text = "%sQuestion: %s\nThoughts, then the answer:" % (bos, dialogue[0]["value"])
        return text, {"answer": dialogue[1]["ground_truth"]["value"]}
