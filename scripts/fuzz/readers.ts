// Every reader of something from outside, with files to begin from. Each is handed bytes, and may refuse them in any words;
// what it may not do is throw, go on for ever, or take the memory.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { properties } from '../../properties/index.ts';
import { worldOf } from '../../src/check/run.ts';
import { readKnown } from '../../src/check/saved/known.ts';
import { implausible } from '../../src/check/saved/plausible.ts';
import { readSavedCase } from '../../src/check/saved/saved-case.ts';
import { readSafetensors, writeSafetensors } from '../../src/checkpoints/safetensors.ts';
import { complaintAbout } from '../../src/cli/config/complaint.ts';
import { readRequest } from '../../src/cli/session/request.ts';
import { splitCommand } from '../../src/cli/trainer/words.ts';
import { readFile } from '../../src/golden/file.ts';
import { detect } from '../../src/monitor/read/files/detect.ts';
import { nothingPushed } from '../../src/monitor/read/json/document.ts';
import { readParquet } from '../../src/monitor/read/parquet.ts';
import { readerOf } from '../../src/monitor/read/readers.ts';
import type { LogSink } from '../../src/monitor/series.ts';
import { parsePython, parseStrict } from '../../src/outside/json.ts';
import { decodeAnswer, decodeHello } from '../../src/protocol/decode.ts';
import { isAnswerLine, TOKEN_ROW } from '../../src/protocol/json.ts';
import { lineSplitter } from '../../src/protocol/lines.ts';
import { OPS } from '../../src/protocol/message.ts';
import { configOf } from '../../src/reference/index.ts';
import { htmlReport } from '../../src/report/html/run/report.ts';
import { junitReport } from '../../src/report/machine/junit.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { readEvents } from '../../src/report/machine/ndjson.ts';
import { sarifReport } from '../../src/report/machine/sarif.ts';
import { runsOf } from '../../src/report/runs.ts';
import { Overrun } from '../../src/tokenizers/deadline.ts';
import { families, familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import { checkTemplate, renderChat } from '../../src/tokenizers/template.ts';
import { ledgerOf } from '../../src/trace/ledger-of.ts';
import { readTrace } from '../../src/trace/records/read.ts';
import { decodeMarks } from '../../src/trace/spans/declared-marks.ts';
import { objectTrainer } from '../../src/trainer/object.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';
import { entriesOf } from '../../src/view/read.ts';
import type { Message } from '../../src/vocabulary.ts';
import { event, eventFile, field, joined, simple, wandbFile } from '../../test/monitor/read/bytes.ts';
import {
  endOf,
  forwardOf,
  linesOf,
  modelOf,
  processOf,
  settingsRecord,
  stepOf,
  trainedOf,
} from '../../test/trace/recorded.ts';

export interface FuzzedReader {
  readonly seeds: () => readonly Uint8Array[];
  readonly read: (bytes: Uint8Array, scratch: string) => unknown;
}

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const SEEDS = join(PACKAGE_ROOT, 'scripts/fuzz/seeds');
const seedFile = (name: string): Uint8Array => new Uint8Array(readFileSync(join(SEEDS, name)));

const HELLO = {
  protocol: 1,
  name: 'fuzzed',
  version: '1',
  ops: { extract: {}, kl: { kl_estimator: ['k1'] }, loss: { ranks: true }, reward: { samples: [] } },
  layout: { alignment: 'token', span: 'row' },
  semantics: { kl_coef: 0.1, in_place: ['kl'], template_arguments: { a: 1 } },
  tokens: { vocab_size: 40, pad_token_id: 0, eos_token_ids: [1, 2] },
};

/** What no recorded answer has: numbers that are none, arrays in base64, what is no answer. */
const ANSWERS: readonly string[] = [
  '{"id":1,"ok":{"completion_ids":[[1,2],[3]]}}',
  '{"id":1,"ok":{"completion_ids":[[1,2],[3]],"logprobs":[[-0.5,NaN],[-Infinity]],"options":{"temperature":1.0}}}',
  '{"id":1,"ok":{"completion_ids":{"dtype":"int64","shape":[1,2],"data":"AQAAAAAAAAACAAAAAAAAAA=="}}}',
  '{"id":1,"error":{"message":"boom","traceback":"Traceback\\n  line 1"}}',
  '{"id":1,"reject":"no"}',
  '{"id":1,"ok":{"loss":0.5},"written":["rewards"]}',
];
/** What the bundled example was asked and answered: one of each op. */
const GOLDEN = join(PACKAGE_ROOT, 'golden/example');
const RECORDED = new Map(
  readdirSync(GOLDEN).flatMap((name) => {
    const read = readFile(readFileSync(join(GOLDEN, name), 'utf8'));
    if ('complaint' in read) throw new Error(read.complaint);
    return read.file.entries.flatMap(({ op, args, said }) =>
      op !== 'hello' && said.kind === 'answer' ? [[op, { args, answer: said.fields }] as const] : [],
    );
  }),
);

const sink: LogSink = {
  series: (run, name) => ({ index: 0, run, name, part: '', evaluation: false }),
  point: () => {},
  sample: () => {},
  declare: () => {},
  complain: () => {},
};

/** As a window hands it over. */
function log(name: string): FuzzedReader['read'] {
  return (bytes) => {
    const detected = detect(bytes.subarray(0, 65_536), name);
    if (detected === undefined) return;
    const options = { path: name, run: name, pushed: nothingPushed(), finished: true };
    const reader = readerOf(detected, options, sink, () => {});
    let at = 0;
    while (at < bytes.length) {
      const done = reader.read(bytes.slice(at), at);
      if (done <= 0) break;
      at += done;
    }
    if (at < bytes.length) reader.pause(bytes.slice(at), at);
  };
}

const inFile =
  (read: (file: string) => unknown): FuzzedReader['read'] =>
  (bytes, scratch) => {
    writeFileSync(scratch, bytes);
    return read(scratch);
  };

/** What somebody says of a text that takes a tokenizer too long ends a command in a sentence. */
function unlessLate(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof Overrun) return error.message;
    throw error;
  }
}

const world = worldOf(
  objectTrainer({
    hello: { protocol: 1, name: 'fuzzed', ops: { extract: {} } },
    ops: { extract: () => ({ completion_ids: [] }) },
  }),
  undefined,
);
const extracting = properties.find(({ id }) => id === 'extract/exact-under-left-padding');
const unlike = extracting === undefined ? () => undefined : implausible(world, extracting);

const ROWS = [
  [5, 6, 2],
  [7, 2, 0],
];
const MESSAGES = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Yes', tool_calls: [] },
];
const TALK: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Is 7 < 12?' },
  { role: 'assistant', content: '<think>\n</think>\n\nYes.' },
  { role: 'user', content: 'Why?' },
];
const wandbRecord = joined(field(1, joined(field(2, joined(field(1, 'loss'), field(16, '0.5'))))));

export const READERS: Readonly<Record<string, FuzzedReader>> = {
  json: {
    seeds: () => ['{"a":[1,NaN,"x\\n",{"b":null}]}', '[[],{},-0.0,1e5,"\\ud83d\\ude00"]'].map(bytesOf),
    read: (bytes) => [parseStrict(textOf(bytes)), parsePython(textOf(bytes))],
  },
  answers: {
    seeds: () =>
      [...ANSWERS, ...[...RECORDED.values()].map(({ answer }) => JSON.stringify({ id: 1, ok: answer }))].map(
        (line) => bytesOf(`${line}\n`),
      ),
    // Whatever it was an answer to: each op decodes it.
    read(bytes) {
      for (const line of lineSplitter().push(Buffer.from(bytes))) {
        const parsed = typeof line === 'string' ? parsePython(line) : undefined;
        if (parsed === undefined || 'complaint' in parsed || !isAnswerLine(parsed.ok)) continue;
        for (const [op, { args }] of RECORDED) decodeAnswer(op, parsed.ok, args as never, TOKEN_ROW);
      }
    },
  },
  hello: {
    seeds: () => [
      bytesOf(JSON.stringify(HELLO)),
      bytesOf(JSON.stringify({ ...HELLO, ops: Object.fromEntries(Object.keys(OPS).map((op) => [op, {}])) })),
    ],
    read(bytes) {
      const parsed = parsePython(textOf(bytes));
      if ('ok' in parsed) decodeHello(parsed.ok);
    },
  },
  'saved cases': {
    seeds: () => [seedFile('saved-case.json')],
    read: inFile((file) => {
      const read = readSavedCase(file);
      return 'ok' in read ? unlike(read.ok.given) : undefined;
    }),
  },
  'known failures': {
    seeds: () => [
      bytesOf(
        '{"mask/x": {"reason": "why", "link": "l", "given": {"a": [1]}, "kind": "nan", "kinds": ["a"]}}',
      ),
    ],
    read: inFile(readKnown),
  },
  golden: {
    seeds: () =>
      readdirSync(join(PACKAGE_ROOT, 'golden/example'))
        .filter((name) => name.endsWith('.json'))
        .map((name) => new Uint8Array(readFileSync(join(PACKAGE_ROOT, 'golden/example', name))))
        .filter(({ length }) => length < 40_000),
    read: (bytes) => readFile(textOf(bytes)),
  },
  trace: {
    seeds: () => [
      bytesOf(
        linesOf([
          processOf(),
          { kind: 'versions', versions: { torch: '2.13.0', trl: '1.13.0' }, device: 'cpu' },
          modelOf(),
          settingsRecord('SFTTrainer', { learning_rate: 1e-5 }),
          forwardOf(ROWS),
          trainedOf([{ column: 0, target: 6, weight: 0.25 }]),
          stepOf(),
          endOf(),
        ]),
      ),
    ],
    read: (bytes) => ledgerOf([readTrace(bytes, 'a').records]),
  },
  'events to pages': {
    seeds: () => [seedFile('last-run.ndjson')],
    read(bytes) {
      const { events } = readEvents(textOf(bytes));
      const runs = runsOf(events);
      return [htmlReport, junitReport, sarifReport, markdownSummary].map((page) => page(runs));
    },
  },
  'data sets': {
    seeds: () => [
      bytesOf(
        `${JSON.stringify({ messages: MESSAGES })}\n${JSON.stringify({ prompt: 'a', completion: 'b' })}\n`,
      ),
      bytesOf(JSON.stringify([{ messages: MESSAGES }, MESSAGES])),
    ],
    read: (bytes) => [...entriesOf(bytes)],
  },
  'JSON lines': {
    seeds: () => [
      bytesOf('{"step": 1, "loss": 0.5, "data": {"kl": NaN}}\n{"step": 2, "loss": Infinity}\n'),
      bytesOf('{"step": 1, "prompt": "a", "completion": "b", "reward": 0.5, "messages": []}\n'),
      bytesOf(
        "9%|#\r  \r{'loss': 1.5, 'grad_norm': nan, 'epoch': '0.01'}\n{'eval_loss': None, 'epoch': inf}\n",
      ),
      bytesOf(
        "(T pid=1) step:1 - a/pg_loss:np.float64(0.5) - lr:1e-06\n[t.py:3] step: 2  loss:  1.5  tps: 3,000\nval: step 3 | lm loss value: nan | x: n/a\n iter 4: loss 1.5, time 1.5ms\nx - step 5: {'loss': 1}\nEpoch [1/2], Loss: inf\n",
      ),
      bytesOf(
        '\rEpoch 1:  5%|#| 5/99 [00:01<?, 1.0it/s, loss=2.1, val_loss=3]\r1|2|Loss: nan: 9it [00:01, 1s/it, lr=[1e-5]]\rEpoch 2: |\u001b[32m#\u001b[0m| 2/? [00:01<00:02, ?it/s, step=3, loss=1]\n',
      ),
    ],
    read: log('a.jsonl'),
  },
  CSV: {
    seeds: () => [bytesOf('step,loss,"a ""b"""\n1,0.5,2\n2,nan,inf\n'), bytesOf('step\tloss\r\n1\t2\r\n')],
    read: log('a.csv'),
  },
  'trainer_state.json': {
    seeds: () => [
      bytesOf(JSON.stringify({ epoch: 1, log_history: [{ step: 1, loss: 2, epoch: 0.1 }] }, undefined, 2)),
    ],
    read: log('trainer_state.json'),
  },
  TensorBoard: {
    seeds: () => [eventFile(event(1, simple('loss', 0.5), simple('kl', 1)), event(2, simple('loss', 0.25)))],
    read: log('events.out.tfevents.1.h'),
  },
  'W&B': { seeds: () => [wandbFile(wandbRecord, wandbRecord)], read: log('run-1.wandb') },
  Parquet: {
    seeds: () => ['completions-snappy.parquet', 'completions-gzip.parquet'].map(seedFile),
    read: (bytes) =>
      readParquet(
        { path: 'a', run: 'a' },
        { byteLength: bytes.length, slice: (from, to) => bytes.slice(from, to).buffer },
        sink,
        () => {},
      ),
  },
  safetensors: {
    seeds: () => [
      writeSafetensors(
        new Map([
          ['a', { shape: [2, 3], data: Float64Array.of(1, 2, 3, 4, 5, 6) }],
          ['b', { shape: [4], data: new Float64Array(4) }],
        ]),
      ),
    ],
    read: readSafetensors,
  },
  'safetensors headers': {
    seeds: () => [
      bytesOf(
        JSON.stringify({
          __metadata__: { format: 'pt' },
          a: { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] },
          b: { dtype: 'BF16', shape: [8], data_offsets: [16, 32] },
        }),
      ),
    ],
    // Whatever the header's length, it is that which stands before it.
    read(bytes) {
      const length = new Uint8Array(new BigUint64Array([BigInt(bytes.length)]).buffer);
      return readSafetensors(joined(length, bytes, new Uint8Array(32)));
    },
  },
  'model configuration': {
    seeds: () =>
      [
        { model_type: 'llama', hidden_size: 8, num_attention_heads: 2, rope_theta: 1e4, vocab_size: 9 },
        { model_type: 'gpt2', n_embd: 8, n_head: 2, n_layer: 1, n_positions: 16, vocab_size: 9 },
      ].map((each) => bytesOf(JSON.stringify(each))),
    read(bytes) {
      const parsed = parseStrict(textOf(bytes));
      return 'ok' in parsed ? configOf(parsed.ok) : undefined;
    },
  },
  'tokenizer.json': {
    seeds: () =>
      families.map((name) => new Uint8Array(readFileSync(join(familyFolder(name), 'tokenizer.json')))),
    read(bytes, scratch) {
      const folder = `${scratch}.tokenizer`;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'tokenizer.json'), bytes);
      const loaded = loadTokenizer(folder);
      if ('problem' in loaded) return loaded.problem;
      return unlessLate(() =>
        loaded.tokenizer.decode(loaded.tokenizer.encode('Is 7 < 12? Yes.\n', { addSpecialTokens: true })),
      );
    },
  },
  'chat templates': {
    seeds: () =>
      families.flatMap((name) => {
        const loaded = loadTokenizer(familyFolder(name));
        const source = 'tokenizer' in loaded ? loaded.tokenizer.chatTemplate : undefined;
        return source === undefined ? [] : [bytesOf(source)];
      }),
    read(bytes) {
      const source = textOf(bytes);
      const { problem } = checkTemplate(source);
      return problem ?? renderChat(source, { messages: TALK, addGenerationPrompt: true, bosToken: '<s>' });
    },
  },
  session: {
    seeds: () =>
      [
        { id: 1, do: 'open', command: ['python3', 'a.py'], only: ['kl'], level: 'must', op_timeout: 5 },
        { id: 2, do: 'check', of: 1, property: 'kl/equals-the-estimator', seed: 7, cases: 10 },
        { id: 3, do: 'hold', command: 'python3 a.py', what: ['mask/*'], seed: 1 },
      ].map((each) => bytesOf(JSON.stringify(each))),
    read: (bytes) => readRequest(textOf(bytes)),
  },
  configuration: {
    seeds: () => [
      bytesOf(
        JSON.stringify({
          trainer: ['python3', 'a.py'],
          cases: 5,
          only: ['kl'],
          opTimeout: 5,
          semantics: { kl_coef: 1 },
          trainers: { a: { adapter: 'trl-sft' } },
        }),
      ),
      bytesOf(JSON.stringify({ roles: [{ role: 'user', open: [1], close: ['</s>'] }] })),
    ],
    read(bytes) {
      const parsed = parseStrict(textOf(bytes));
      return 'ok' in parsed ? [complaintAbout(parsed.ok), decodeMarks(parsed.ok)] : undefined;
    },
  },
  commands: {
    seeds: () =>
      fc
        .sample(fc.constantFrom('python "my adapter.py" \'x y\' a\\ b', 'sh -c "echo \\"$A\\""'), 2)
        .map(bytesOf),
    read: (bytes) => splitCommand(textOf(bytes)),
  },
};
