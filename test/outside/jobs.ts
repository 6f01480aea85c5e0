// What is read in the test of work, each at any size: what a trainer or a file can send, and who reads it.
import { csvReader } from '../../src/monitor/read/csv.ts';
import { jsonLinesReader } from '../../src/monitor/read/json/json-lines.ts';
import { parsePython, parseStrict } from '../../src/outside/json.ts';
import { decodeAnswer } from '../../src/protocol/decode.ts';
import { isAnswerLine, TOKEN_ROW } from '../../src/protocol/json.ts';
import { lineSplitter } from '../../src/protocol/lines.ts';
import { scan } from '../../src/view/scan.ts';
import { memory } from '../monitor/read/memory.ts';
import { qwen, talk } from '../view/rows.ts';
import { SHAPES } from './shapes.ts';

export interface Job {
  readonly size: number;
  /** Makes what is read, and gives the reading of it. */
  readonly of: (size: number) => () => void;
}

const ANSWERED = {
  extract: {
    padding_side: 'left',
    prompt_ids: [[1]],
    input_ids: [[1]],
    attention_mask: [[1]],
    sequences: [[1, 2]],
    sampled_ids: [[2]],
  },
  tokenize: { route: 'sft', messages: [], add_generation_prompt: false },
  render: { route: 'sft', messages: [], add_generation_prompt: false },
} as const;

/** In pieces, as a pipe or a packed file hands them over. */
function inPieces(bytes: Uint8Array, size: number, read: (held: Uint8Array, at: number) => number): void {
  let from = 0;
  for (let to = 0; to < bytes.length; ) {
    to = Math.min(to + size, bytes.length);
    from += read(bytes.subarray(from, to), from);
  }
}

const PIECE = 1_000;
const lines = (line: string, size: number): string => line.repeat(Math.ceil(size / line.length));
const TABLES: Readonly<Record<string, (size: number) => string>> = {
  'a quote that nothing closes': (size) => `step,loss\n1,"0.5\n${lines('2,0.5\n', size)}`,
  'a quote in the header': (size) => `step,"loss\n${lines('2,0.5\n', size)}`,
  'one row without an end': (size) => `step,loss\n${lines('1,', size)}`,
  'a quote in each row': (size) => `step,loss\n${lines('1,"0.5\n', size)}`,
  'pairs of quotes': (size) => `step,loss\n1,${lines('""', size)}\n2,3\n`,
  'rows of another width': (size) => `step,loss\n${lines('1,2,3\n', size)}`,
  'a header for each row': (size) => `step,loss\n${lines('step,loss\n', size)}`,
  'many columns': (size) => `step,${lines('a,', size)}\n1,${lines('2,', size)}\n`,
};

const keys = (
  size: number,
  value: (at: number) => string,
  name = (at: number): string => `"m${at}"`,
): string => Array.from({ length: size / 20 }, (_, at) => `${name(at)}: ${value(at)}`).join(', ');
const LOGS: Readonly<Record<string, (size: number) => string>> = {
  'many keys': (size) => `{"step": 1, ${keys(size, () => '0.5')}}\n`,
  'many keys and a text': (size) => `{"step": 1, "a": "b", ${keys(size, () => '0.5')}}\n`,
  'many keys of keys': (size) => `{"step": 1, ${keys(size, (at) => `{"a${at}": 1}`)}}\n`,
  'many keys of lists': (size) => `{"step": 1, ${keys(size, () => '[1]')}}\n`,
  'many names of losses': (size) =>
    `{"step": 1, ${keys(
      size,
      () => '0.5',
      (at) => `"loss/m${at}"`,
    )}}\n`,
  'many dicts of Python': (size) => lines("{'loss': 1, 'epoch': 1}\n", size),
  'one dict of Python': (size) =>
    `{'loss': 1, ${keys(
      size,
      () => '0.5',
      (at) => `'m${at}'`,
    )}}\n`,
  'pairs of quotes': (size) => `{"step": 1, "completion": "${lines('\\"\\"', size)}", "reward": 1}\n`,
  'a line without an end': (size) => `{"step": 1, "a": "${lines('b', size)}`,
};

const call = (name: string, given: unknown = {}) => ({ function: { name, arguments: given } });
const several = <T>(size: number, each: (at: number) => T): T[] =>
  Array.from({ length: size }, (_, at) => each(at));
const turns = (size: number, content: (at: number) => string) =>
  several(size, (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: content(at) }));
export const CONVERSATIONS: Readonly<Record<string, (size: number) => object>> = {
  'short messages': (size) => ({ messages: turns(size, (at) => `Hi ${at}`) }),
  'messages without a word': (size) => ({ messages: turns(size, () => '') }),
  'messages of a user': (size) => ({ messages: several(size, () => ({ role: 'user', content: 'a' })) }),
  thoughts: (size) => ({ messages: turns(size, () => '<think>a</think>b') }),
  'messages of a role that nobody knows': (size) => ({
    messages: several(size, () => ({ role: 'x', content: 'a' })),
  }),
  'calls in messages': (size) => ({
    messages: [
      ...talk(),
      ...several(size, (at) => ({ role: 'assistant', content: '', tool_calls: [call(`f${at}`)] })),
    ],
  }),
  'calls in one message': (size) => ({
    messages: [
      ...talk(),
      { role: 'assistant', content: '', tool_calls: several(size, (at) => call(`f${at}`)) },
    ],
  }),
  'arguments with quotes': (size) => ({
    messages: [
      ...talk(),
      { role: 'assistant', content: '', tool_calls: several(size, (at) => call('f', `{"a": "${at}"}`)) },
    ],
  }),
  'few answers among many messages': (size) => ({
    messages: several(size, (at) => ({
      role: at % 16 === 15 ? 'assistant' : 'user',
      content: `</think>${at}`,
    })),
  }),
  'a text of quotes': (size) => ({ messages: talk('"'.repeat(size)) }),
  'a text of pairs of quotes': (size) => ({ messages: talk('"" '.repeat(size)) }),
  'two conversations': (size) => ({ chosen: turns(size, () => 'a'), rejected: turns(size, () => 'b') }),
};

const ANSWERS = [
  '{"id":1,"ok":{"completion_ids":@}}',
  '{"id":1,"ok":{"text":@}}',
  '{"id":1,"ok":@}',
  '{"id":1,"error":@}',
  '{"id":1,"reject":@}',
  '{"id":1,"ok":{},"written":@}',
];

function* jobs(): Generator<[string, Job]> {
  for (const [name, shape] of Object.entries(SHAPES)) {
    yield [
      `JSON of ${name}`,
      {
        size: 20_000,
        of: (size) => {
          const text = shape(size);
          return () => void [parseStrict(text), parsePython(text)];
        },
      },
    ];
    for (const answer of ANSWERS)
      yield [
        `an answer ${answer} of ${name}`,
        {
          size: 20_000,
          of: (size) => {
            const parsed = parsePython(answer.replace('@', () => shape(size)));
            const value = 'ok' in parsed && isAnswerLine(parsed.ok) ? parsed.ok : undefined;
            return () => {
              for (const [op, args] of Object.entries(ANSWERED))
                decodeAnswer(op as 'extract', value, args as never, TOKEN_ROW);
            };
          },
        },
      ];
  }
  for (const [name, table] of Object.entries(TABLES))
    yield [
      `a table with ${name}`,
      {
        size: 100_000,
        of: (size) => {
          const bytes = new TextEncoder().encode(table(size));
          return () => {
            const into = memory();
            const reader = csvReader({ run: '', delimiter: ',', finished: true }, into, into.complain);
            inPieces(bytes, PIECE, (held, at) => reader.read(held, at));
          };
        },
      },
    ];
  for (const [name, log] of Object.entries(LOGS))
    yield [
      `a log with ${name}`,
      {
        size: 20_000,
        of: (size) => {
          const bytes = new TextEncoder().encode(log(size));
          return () => {
            const into = memory();
            const reader = jsonLinesReader({ path: 'a', run: '' }, into, into.complain);
            inPieces(bytes, PIECE, (held, at) => reader.read(held, at));
          };
        },
      },
    ];
  yield [
    'a line of an answer in pieces',
    {
      size: 200_000,
      of: (size) => {
        const bytes = Buffer.from(`${'a'.repeat(size)}\n`);
        return () => {
          const { push } = lineSplitter();
          inPieces(bytes, PIECE, (held) => {
            push(Buffer.from(held));
            return held.length;
          });
        };
      },
    },
  ];
  for (const [name, row] of Object.entries(CONVERSATIONS))
    yield [
      `a row with ${name}`,
      {
        size: 1_500,
        of: (size) => {
          const value = row(size);
          return () => void scan([{ number: 1, value }], qwen, { most: 1 });
        },
      },
    ];
}

export const JOBS: ReadonlyMap<string, Job> = new Map(jobs());
