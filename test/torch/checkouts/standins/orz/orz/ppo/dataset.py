"""Prompts, made when the set is."""


class PromptDataset:
    def __init__(self, dialogues, tokenizer, max_length, strategy, pretrain_mode=False, num_processors=8):
        self.tokenizer, self.max_length, self.strategy = tokenizer, max_length, strategy
        self.dialogues = [self.process_dialogue(each) for each in dialogues]

    def __len__(self):
        return len(self.dialogues)

    def __getitem__(self, at):
        return self.dialogues[at]
