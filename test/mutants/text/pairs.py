"""Wrong rows of preference pairs, made of conversations."""

from lossproof.examples import left_padded
from lossproof.examples.rows.preference import preference, preference_flush_right
from lossproof.examples.text.chat import EOS_IDS, PAD_ID, STOP_ID, chat_ids
from lossproof.examples.text.pairs import answer_ids, preference_batch

from ..registry import MUTANTS

HALVES = ("chosen", "rejected")


def add(name, title, row, rows=()):
    return MUTANTS.add(name, title, left_padded, "preference_batch", row=row, rows=rows)


def laid(prompts, chosen, rejected, lay=preference):
    """Both halves by the ids of their answers, which may be tampered with."""
    return lay([chat_ids(prompt, True) for prompt in prompts], chosen, rejected, PAD_ID)


def answers(prompts, texts):
    return [answer_ids(*row) for row in zip(prompts, texts)]


def shared(left, right):
    """How many ids they begin with alike."""
    pairs = zip(left, right)
    return next((t for t, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


@add("pairs-prompt-by-what-the-answers-share", "The prompt reaches as far as both halves agree", "TPL-08")
def by_agreement(prompts, chosen, rejected):
    """The data set has whole conversations, and the prompt is looked for as their common beginning, id by id: what both
    answers begin with counts in neither. Fix: the prompt is the messages before the last, rendered with the generation
    prompt."""
    right = preference_batch(prompts, chosen, rejected)
    for row, ids in enumerate(right["chosen_input_ids"]):
        agreed = shared(ids, right["rejected_input_ids"][row])
        for name in HALVES:
            right[name + "_mask"][row][:agreed] = [0] * len(right[name + "_mask"][row][:agreed])
    return right


@add("pairs-cut-to-the-shorter-answer", "Both answers are cut to the length of the shorter", "PAD-08", ("TRN-01",))
def cut(prompts, chosen, rejected):
    """zip over the two halves ends where the first of them does."""
    halves = answers(prompts, chosen), answers(prompts, rejected)
    kept = [min(map(len, row)) for row in zip(*halves)]
    return laid(prompts, *([ids[:n] for ids, n in zip(half, kept)] for half in halves))


@add("pairs-prompt-from-column-0", "The prompt's length is counted from column 0 of pairs padded on the left", "MSK-16")
def from_column_0(prompts, chosen, rejected):
    """labels[:, :prompt_len] = -100 on rows that are padded on the left: prompt and answer move into each other."""
    batch = laid(prompts, answers(prompts, chosen), answers(prompts, rejected), preference_flush_right)
    for name in HALVES:
        for row, prompt in enumerate(prompts):
            length = len(chat_ids(prompt, True))
            real = batch[name + "_attention_mask"][row]
            batch[name + "_mask"][row] = [int(on and t >= length) for t, on in enumerate(real)]
    return batch


@add("pairs-mask-counts-padding", "Of pairs of conversations, everything behind the prompt counts", "MSK-06")
def open_end(prompts, chosen, rejected):
    """The labels were cloned from padded ids, and only the prompt was taken out."""
    batch = preference_batch(prompts, chosen, rejected)
    for name in HALVES:
        for row, prompt in enumerate(prompts):
            length = len(chat_ids(prompt, True))
            batch[name + "_mask"][row] = [int(t >= length) for t in range(len(batch[name + "_mask"][row]))]
    return batch


@add("pairs-stop-of-one-half", "Only the chosen answers are trained to stop", "EOS-07")
def stop_of_one(prompts, chosen, rejected):
    """eos was appended to the better answers by hand, and the worse ones were left as the engine had cut them."""
    batch = preference_batch(prompts, chosen, rejected)
    for ids, mask in zip(batch["rejected_input_ids"], batch["rejected_mask"]):
        for t, id in enumerate(ids):
            mask[t] = mask[t] and int(id not in EOS_IDS)
    return batch


@add("pairs-attention-by-id", "Of pairs of conversations, attention is `ids != eos`", "EOS-02")
def attention_by_id(prompts, chosen, rejected):
    """pad is eos, so the ends of all turns are hidden."""
    batch = preference_batch(prompts, chosen, rejected)
    for name in HALVES:
        rows = batch[name + "_input_ids"]
        batch[name + "_attention_mask"] = [[int(id not in (PAD_ID, STOP_ID)) for id in row] for row in rows]
    return batch


@add("pairs-rejected-sorted-by-length", "The rejected half is sorted by length", "PAD-08")
def sorted_half(prompts, chosen, rejected):
    """Each half goes through a loader of its own, and one of them groups by length."""
    batch = preference_batch(prompts, chosen, rejected)
    order = sorted(range(len(prompts)), key=lambda row: sum(batch["rejected_attention_mask"][row]))
    fields = ("rejected_input_ids", "rejected_attention_mask", "rejected_mask")
    return dict(batch, **{name: [batch[name][row] for row in order] for name in fields})


@add("pairs-results-of-tools-are-questions", "In pairs, what a tool answered is rendered as a question", "TPL-06")
def results_as_questions(prompts, chosen, rejected):
    """The data set's roles are mapped to the two that there were, and the policy reads results otherwise when it samples.
    Fix: hand the messages to the template as they are."""
    roles = [[dict(m, role="user" if m["role"] == "tool" else m["role"]) for m in prompt] for prompt in prompts]
    return preference_batch(roles, chosen, rejected)
