"""What the trainer says to its tokenizer and to its model: the one renders what the request holds, the other samples it."""

import lossproof
from lossproof.testing import Table

import torch


class Row(str):
    """The text of a prompt, which knows the row of the request that it is of."""

    def __new__(cls, text, at):
        made = super().__new__(cls, text)
        made.at = at
        return made


class Heard:
    """A tokenizer whose template is asked for the prompts of the request in their order, whatever the trainer wants rendered:
    it knows questions of one string alone. encoded: of each call (texts, what came of them)."""

    def __init__(self, tokenizer, prompts):
        """prompts: a text, or the messages of a conversation, a row."""
        self.tokenizer, self.prompts = tokenizer, prompts
        self.encoded, self.given, self.refusal = [], [], None

    def __getattr__(self, name):
        return getattr(self.tokenizer, name)

    def __call__(self, text, **options):
        texts = [text] if isinstance(text, str) else list(text)
        found = self.tokenizer([str(each) for each in texts], **options)
        self.encoded.append((texts, found))
        return found

    def apply_chat_template(self, messages, **options):
        at = len(self.given)
        self.given.append(messages)
        prompt = self.prompts[at % len(self.prompts)]
        if isinstance(prompt, str):
            return Row(prompt, at)
        try:
            return Row(self.tokenizer.apply_chat_template(standing_for(messages, prompt), **options), at)
        except Exception as refusal:
            self.refusal = refusal  # the trainer goes on without a template
            raise

    def accepted(self):
        """A Reject where the template took no such messages, or was not asked and they are no question alone."""
        if self.refusal is not None:
            raise lossproof.Reject("the chat template refuses these messages: %s" % self.refusal)
        if not self.given and any(len(prompt) > 1 for prompt in self.prompts):
            raise lossproof.Reject("grpo-dual renders a question alone here, without a template")


def standing_for(messages, prompt):
    """The trainer's messages with these in the place of its question; its own system message stands before such as have none."""
    at = next(at for at, each in enumerate(messages) if each["role"] == "user")
    before = [] if prompt[0]["role"] == "system" else messages[:at]
    return [*before, *prompt, *messages[at + 1 :]]


class Sampler(Table):
    """A model that samples these ids, a row of the request each, behind what it is asked with. prompts: {row: ids}."""

    def __init__(self, heard, sampled):
        super().__init__()
        self.heard, self.given, self.prompts = heard, sampled, {}

    def generate(self, input_ids=None, attention_mask=None, **_):
        # Some commits ask for all rows at once, and others for one after the other, and for each several times.
        rows = [text.at for text in self.heard.encoded[-1][0]]
        for at, ids, real in zip(rows, input_ids, attention_mask):
            self.prompts[at] = ids[real.bool()].tolist()
        width = max(len(self.given[at]) for at in rows)
        pad = self.heard.pad_token_id
        behind = [self.given[at] + [pad] * (width - len(self.given[at])) for at in rows]
        return torch.cat([input_ids, torch.tensor(behind, dtype=torch.long).reshape(len(rows), width)], dim=1)
