"""The prompt of a question."""


def make_prefix(dp, template_type):
    return (
        "Think in <think> and </think>. Search by <search> query </search>; what is found stands in <information> and "
        "</information>. Answer in <answer> and </answer>, for example <answer> Beijing </answer>. Question: %s\n"
    ) % dp["question"]
