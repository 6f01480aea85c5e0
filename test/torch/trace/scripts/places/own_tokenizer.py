"""A model by hand with a tokenizer that is none of transformers': tiktoken's with marks of one's own, or sentencepiece's."""

import argparse
import io

import batches
import nets
import tiny
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="tiktoken", choices=["tiktoken", "sentencepiece"])
options = batches.options_of(parser)
ROLES = {"system": "user", "user": "user", "tool": "user", "assistant": "assistant"}
MARKS = ["<|bos|>", *("<|%s_%s|>" % (role, end) for role in ("user", "assistant") for end in ("start", "end"))]


def of_tiktoken():
    import tiktoken

    ranks = {bytes([byte]): byte for byte in range(256)}
    for token in (b"he", b"th", b"in", b" w", b"ar", b" war", b"er", b" th", b" the"):
        ranks[token] = len(ranks)
    specials = {mark: len(ranks) + at for at, mark in enumerate(MARKS)}
    pattern = r"[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s+"
    encoding = tiktoken.Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=specials)
    return encoding, encoding.encode_ordinary, specials.get, encoding.n_vocab


def of_sentencepiece():
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(m["content"] for row in tiny.rows(options.data) for m in row["messages"]),
        model_writer=model,
        vocab_size=400,
        model_type="bpe",
        byte_fallback=True,
        character_coverage=0.98,  # the rest are bytes, of which there are always enough
        hard_vocab_limit=False,
        user_defined_symbols=MARKS,
        minloglevel=5,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return processor, processor.encode, processor.piece_to_id, processor.get_piece_size()


kept, encode, mark, size = of_tiktoken() if options.kind == "tiktoken" else of_sentencepiece()


def encoded(messages):
    ids, labels = [mark("<|bos|>")], [tiny.IGNORE]
    for message in messages:
        role = ROLES[message["role"]]
        pieces = [mark("<|%s_start|>" % role), *encode(message["content"]), mark("<|%s_end|>" % role)]
        trained = [False, *[role == "assistant"] * (len(pieces) - 1)]
        if options.fault == "prompt":
            trained = [True] * len(pieces)
        elif options.fault == "eos":
            trained[-1] = False
        ids += pieces
        labels += [id if is_trained else tiny.IGNORE for id, is_trained in zip(pieces, trained)]
    return {"input_ids": ids, "labels": labels}


rows = [encoded(row["messages"]) for row in tiny.rows(options.data)]
model = nets.GPT(size)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(len(rows) // 2):
    batch = batches.padded(rows[2 * step : 2 * step + 2], mark("<|bos|>"))
    logits = model(batch["input_ids"], batch["attention_mask"])
    loss = batches.loss_of(logits, batch["labels"], batches.tokens_of(batch["labels"]))
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
