// The tokenizer of single characters beside a real one that transformers loads from the folder it saves: the same calls
// give the same ids, spans, masks, padding and text.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { said } from '../../python/testing/script.ts';

const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');

test('every call that trainers make answers as transformers does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof codec '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const answers = await said(
    `
import itertools, os
os.environ["HF_HUB_OFFLINE"] = "1"
import transformers
from lossproof.testing import Codec
def plain(value):
    if hasattr(value, "items"):
        return {name: plain(each) for name, each in sorted(value.items()) if name != "token_type_ids"}
    if hasattr(value, "tolist"): return plain(value.tolist())
    if isinstance(value, (list, tuple)): return [plain(each) for each in value]
    return value
compared = 0
def compare(one, other, call):
    global compared
    compared += 1
    first, second = plain(call(one)), plain(call(other))
    if first != second: say([compared, repr(first)[:300], repr(second)[:300]])
CHAT = [{"role": "user", "content": "ab c"}, {"role": "assistant", "content": "d\\n"}]
OWN = "{%- for m in messages %}{{ bos_token or '' }}{% if m.role == 'user' %}u{{ m.content | tojson }}{% else %}a{% endif %}\\n  {% endfor %}{{ x }}"
OPTIONS = [{}, {"padding": True}, {"padding": True, "return_tensors": "pt"}, {"padding": "longest", "return_tensors": "np"},
    {"padding": "max_length", "max_length": 7, "truncation": True}, {"truncation": True, "max_length": 2}, {"add_special_tokens": False},
    {"return_offsets_mapping": True, "padding": True}, {"padding": True, "pad_to_multiple_of": 4}, {"return_length": True},
    {"return_special_tokens_mask": True, "padding": True}, {"return_attention_mask": False}, {"padding": True, "padding_side": "left"}]
for n, kind in enumerate([{}, {"bos": "<s>", "add_bos": True, "eos": "</s>", "marks": ("<u>", "<us>")}, {"add_eos": True, "size": 60, "pad": "<|im_end|>"},
        {"size": 120}]):
    codec = Codec(**kind)
    real = transformers.PreTrainedTokenizerFast.from_pretrained(codec.save_pretrained(os.path.join(FOLDER, str(n))))
    mark = codec.marks[-1]
    texts = ["ab c", "", mark + "a" + codec.marks[0] + "b", codec.texts[-1] * 3]
    for side, cut in itertools.product(("right", "left"), repeat=2):
        codec.padding_side = real.padding_side = side
        codec.truncation_side = real.truncation_side = cut
        for options in OPTIONS:
            compare(real, codec, lambda t: t(texts, **options))
            compare(real, codec, lambda t: t(texts[0], **options))
        rows = [{"input_ids": [5, 6, 7], "attention_mask": [1, 1, 1]}, {"input_ids": [8], "attention_mask": [1]}]
        for options in ({}, {"return_tensors": "pt"}, {"padding": "max_length", "max_length": 5}, {"pad_to_multiple_of": 2}):
            compare(real, codec, lambda t: t.pad([dict(row) for row in rows], **options))
            compare(real, codec, lambda t: t.pad({"input_ids": [[5, 6], [7]]}, **options))
    for text in texts:
        compare(real, codec, lambda t: [t.encode(text), t.encode(text, add_special_tokens=False), t.tokenize(text)])
    ids = list(range(len(codec)))
    for skip in (False, True):
        compare(real, codec, lambda t: [t.decode(ids, skip_special_tokens=skip), t.batch_decode([ids, [3]], skip_special_tokens=skip),
            t.convert_ids_to_tokens(ids, skip_special_tokens=skip)])
    compare(real, codec, lambda t: [t.convert_tokens_to_ids(mark), t.convert_tokens_to_ids([mark, "a"]), t.convert_ids_to_tokens(3), len(t),
        t.vocab_size, t.get_vocab(), t.all_special_ids, t.pad_token_id, t.eos_token_id, t.bos_token_id, t.pad_token, t.bos_token])
    compare(real, codec, lambda t: t.encode("ab", return_tensors="pt"))
    if n in (0, 3):
        for options in ({}, {"tokenize": False}, {"add_generation_prompt": True}, {"return_dict": False}, {"return_dict": True, "return_tensors": "pt"}):
            compare(real, codec, lambda t: t.apply_chat_template(CHAT, **options))
            compare(real, codec, lambda t: t.apply_chat_template([CHAT, CHAT[:1]], **{**options, "padding": True}))
    compare(real, codec, lambda t: t.apply_chat_template(CHAT, chat_template=OWN, tokenize=False, x="y"))
say(compared)
codec = Codec()
say(why(lambda: codec("é")))
say([codec(["a"]).to("cpu").input_ids, codec.tokens, issubclass(type(codec("a")), dict)])
say(why(lambda: Codec(size=3)))
say(why(lambda: codec(["a", "bc"], return_tensors="pt")))
say(why(lambda: codec.apply_chat_template(CHAT, chat_template="{{ raise_exception('no') }}")))
`.replace('import itertools', `FOLDER = ${JSON.stringify(folder)}\nimport itertools`),
    {},
    PYTHON,
  );
  expect(answers).toEqual([
    expect.any(Number),
    "UnknownCharacter: the codec has no 'é': give it among characters, or a greater size",
    [[[3]], { vocab_size: 99, pad_token_id: 0, eos_token_ids: [1] }, true],
    'ValueError: Codec: 3 ids leave none for characters besides the 3 marks',
    'ValueError: rows of several lengths are no tensor: padding=True pads them',
    'TemplateError: no',
  ]);
  expect(answers[0]).toBeGreaterThan(500);
});
