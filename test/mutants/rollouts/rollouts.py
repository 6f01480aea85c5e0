"""Wrong scoring batches: what is scored is not what was sampled, or is masked wrongly."""

from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.lists import beside, pad_left
from lossproof.examples.text.chat import BOS_ID, STOP_ID, chat_ids, chat_text, tokenizer

from ..registry import MUTANTS


@MUTANTS.add(
    "rollout-retokenises",
    "Sampled ids are decoded and tokenised again before scoring",
    left_padded,
    row="MT-01",
)
def rollout(conversations, sampled_ids):
    """Text is not ids: most token sequences are not the ones that the tokenizer would have chosen for their text."""
    again = [tokenizer.encode(tokenizer.decode(ids)) for ids in sampled_ids]
    return left_padded.rollout(conversations, again)


@MUTANTS.add(
    "rollout-retokenises-without-stops",
    "Sampled ids are decoded with skip_special_tokens and tokenised again before scoring",
    left_padded,
    "rollout",
    row="MT-01",
)
def rollout_without_stops(conversations, sampled_ids):
    """Two mistakes in one line: every answer loses the stop token that it ended with, and some answers come back as other
    ids. The first is in every row and hides the second."""
    again = [tokenizer.encode(tokenizer.decode([i for i in ids if i != STOP_ID])) for ids in sampled_ids]
    return left_padded.rollout(conversations, again)


@MUTANTS.add(
    "rollout-adds-bos",
    "Scoring puts another BOS in front of the prompt",
    left_padded,
    "rollout",
    row="TOK-01",
)
def rollout_bos(conversations, sampled_ids):
    """The scorer tokenises the rendered prompt with special tokens on; the sampler did not."""
    right = left_padded.rollout(conversations, sampled_ids)
    rows, masks = right["input_ids"], right["attention_mask"]
    starts = [real.index(1) for real in masks]
    return dict(
        right,
        input_ids=[row[:at] + [BOS_ID] + row[at:] for row, at in zip(rows, starts)],
        attention_mask=[real[:at] + [1] + real[at:] for real, at in zip(masks, starts)],
    )


@MUTANTS.add(
    "rollout-attention-by-id",
    "Scoring's attention mask is `ids != pad`",
    left_padded,
    "rollout",
    row="EOS-02",
)
def rollout_attention(conversations, sampled_ids):
    """Here pad is the stop token, so every turn's end in the prompt is hidden from the scorer."""
    right = left_padded.rollout(conversations, sampled_ids)
    pad = left_padded.PAD_ID
    return dict(right, attention_mask=[[int(id != pad) for id in row] for row in right["input_ids"]])


@MUTANTS.add(
    "rollout-templates-twice",
    "The prompt is a template inside a template",
    left_padded,
    "rollout",
    row="TPL-06",
)
def rollout_twice(conversations, sampled_ids):
    """The prompts came rendered from the data set, and the server's chat endpoint rendered them again. Generation
    and scoring agree, so no ratio tells. Fix: hand messages to a chat endpoint, or ids to a completion endpoint."""
    wrapped = [[{"role": "user", "content": chat_text(messages, True)}] for messages in conversations]
    return left_padded.rollout(wrapped, sampled_ids)


@MUTANTS.add(
    "rollout-mask-is-the-block",
    "The scored batch trains the whole block",
    left_padded,
    "rollout",
    row="EOS-03",
)
def rollout_block(conversations, sampled_ids):
    """completion_mask = ones_like(completions), right while all completions had one length. Fix: carry the lengths
    of the sampled rows along."""
    right = left_padded.rollout(conversations, sampled_ids)
    return dict(right, completion_mask=[[1] * len(row) for row in right["completion_mask"]])


@MUTANTS.add(
    "rollout-appends-a-stop",
    "Scoring ends every completion with a stop token",
    left_padded,
    "rollout",
    row="EOS-06",
)
def rollout_appends(conversations, sampled_ids):
    """A stop token is added to each completion, also behind the one that was sampled and behind what was cut off by
    its length: the policy is rewarded for a token that it never chose. Fix: score what was sampled."""
    return left_padded.rollout(conversations, [ids + [STOP_ID] for ids in sampled_ids])


@MUTANTS.add(
    "rollout-mask-by-pad-id",
    "The mask of the scored batch is `ids != pad`",
    left_padded,
    "rollout",
    row="EOS-01",
)
def rollout_mask_by_id(conversations, sampled_ids):
    """Here pad is the stop token: every answer is trained up to its stop and never to stop. Fix: build the mask from
    the lengths."""
    right = left_padded.rollout(conversations, sampled_ids)
    blocks = [row[-len(mask) :] for row, mask in zip(right["input_ids"], right["completion_mask"])]
    return dict(right, completion_mask=[[int(id != left_padded.PAD_ID) for id in row] for row in blocks])


@MUTANTS.add(
    "rollout-kept-by-prompt", "Sampled completions are kept in a table by prompt", left_padded, "rollout"
)
def rollout_by_prompt(conversations, sampled_ids):
    """{prompt: completion}: of the G samples of one prompt only the last is left, and is scored G times. Fix: keep
    them by row."""
    kept = {str(messages): ids for messages, ids in zip(conversations, sampled_ids)}
    return left_padded.rollout(conversations, [kept[str(messages)] for messages in conversations])


# Longer than the header of an answer, shorter than most prompts.
PROMPT_LIMIT = 12


@MUTANTS.add(
    "rollout-truncates-the-prompt",
    "Scoring cuts long prompts on the left",
    left_padded,
    "rollout",
    row="TRN-03",
)
def rollout_truncated(conversations, sampled_ids):
    """max_prompt_length was set for the scorer and not for the sampler: BOS and system prompt are lost from what is
    scored. Fix: one limit, applied before sampling."""
    prompt_ids = [chat_ids(messages, True) for messages in conversations]
    prompts, prompt_real = pad_left([ids[-PROMPT_LIMIT:] for ids in prompt_ids], left_padded.PAD_ID)
    right = left_padded.rollout(conversations, sampled_ids)
    width = len(right["input_ids"][0]) - len(right["completion_mask"][0])
    return dict(
        right,
        input_ids=beside(prompts, [row[width:] for row in right["input_ids"]]),
        attention_mask=beside(prompt_real, [row[width:] for row in right["attention_mask"]]),
    )


@MUTANTS.add(
    "rollout-prompt-loses-special-tokens",
    "The scored prompt went through text without special tokens",
    left_padded,
    "rollout",
    row="TOK-07",
)
def rollout_through_text(conversations, sampled_ids):
    """skip_special_tokens=True, so that no padding comes along: BOS, headers and ends of turns are lost as well. Fix: hand
    ids on, and take padding off by its mask."""
    right = left_padded.rollout(conversations, sampled_ids)
    special = set(tokenizer.added.values())
    rows, masks = [], []
    for prompt, row, real in zip(right["prompt_ids"], right["input_ids"], right["attention_mask"]):
        bare = tokenizer.encode(tokenizer.decode([id for id in prompt if id not in special]))
        end = real.index(1) + len(prompt)
        free = end - len(bare)
        rows.append([left_padded.PAD_ID] * free + bare + row[end:])
        masks.append([0] * free + [1] * len(bare) + real[end:])
    return dict(right, input_ids=rows, attention_mask=masks)


@MUTANTS.add(
    "rollout-tokenised-as-one-text",
    "Prompt and answer are tokenised as one text and cut by a length",
    left_padded,
    "rollout",
    row="TOK-05",
)
def rollout_as_one_text(conversations, sampled_ids):
    """encode(prompt + answer), cut at len(encode(prompt)): where the answer begins with what merges with the prompt's
    line end the cut is off, and elsewhere the ids are not those that were sampled. Fix: concatenate ids."""
    prompts = [chat_text(messages, True) for messages in conversations]
    answers = []
    for prompt, ids in zip(prompts, sampled_ids):
        whole = tokenizer.encode(prompt + tokenizer.decode(ids))
        answers.append(whole[len(tokenizer.encode(prompt)) :])
    return left_padded.rollout(conversations, answers)


@MUTANTS.add("rollout-drops-results", "A prompt loses what tools answered", left_padded, "rollout", row="TPL-06")
def rollout_without_results(conversations, sampled_ids):
    """A filter of roles from before there were tools: the policy answers a call of which it never sees the result. Fix:
    hand the messages to the template as they are."""
    roles = ("system", "user", "assistant")
    return left_padded.rollout([[m for m in c if m["role"] in roles] for c in conversations], sampled_ids)


@MUTANTS.add("rollout-mask-from-the-end", "An empty completion trains its prompt", stop_excluded, "rollout", row="MSK-01")
def rollout_from_the_end(conversations, sampled_ids):
    """mask[-len(completion):] = 1, and -0 is the beginning of the row. Fix: count from the prompt's end."""
    right = stop_excluded.rollout(conversations, sampled_ids)
    for mask, sampled in zip(right["completion_mask"], sampled_ids):
        if not sampled:
            mask[:] = [1] * len(mask)
    return right
