// A traced run for tests of what it looks like: conversations in a family's own template, rightly trained and wrongly.
import { NOT_TRIED, type PropertyResult } from '../../src/check/events.ts';
import type { Run } from '../../src/report/runs.ts';
import { stripOfRow } from '../../src/report/trace/rows.ts';
import { renderChat, templateTokens } from '../../src/tokenizers/render.ts';
import type { Ledger } from '../../src/trace/ledger.ts';
import { familyFolders, loaded } from '../tokenizers/folders.ts';
import { ledgerOf, type TrainedRowSketch } from '../trace/traced.ts';

const tokenizer = loaded(familyFolders.qwen ?? '');

/** A question and its answer; how many of its tokens are the prompt. */
export function talk(question: string, answer: string): { readonly ids: number[]; readonly prompt: number } {
  const render = (messages: Parameters<typeof renderChat>[1]['messages'], add: boolean): number[] => {
    const options = { messages, addGenerationPrompt: add, ...templateTokens(tokenizer) };
    const rendered = renderChat(tokenizer.chatTemplate ?? '', options);
    if ('problem' in rendered) throw new Error(rendered.problem);
    return tokenizer.encode(rendered.text);
  };
  const user = { role: 'user', content: question } as const;
  const ids = render([user, { role: 'assistant', content: answer }], false);
  return { ids, prompt: render([user], true).length };
}

const EOS = tokenizer.eosTokenId ?? 2;

/** Rows of two steps: right ones, and four that are wrong in four ways, unless `right`. */
export function tracedLedger({ right = false, long = 0 } = {}): Ledger {
  const short = talk('Hi <b>you</b>', 'Hello!');
  const other = talk('Which is 日本?', 'A country.');
  const stop = short.ids.lastIndexOf(EOS);
  const wrong = (at: TrainedRowSketch['at']): Pick<TrainedRowSketch, 'at'> =>
    right || at === undefined ? {} : { at };
  const sampled = { origin: { kind: 'generation', generations: [0] } } as const;
  const rows: TrainedRowSketch[] = [
    { ...other, right: 2, row: 0 },
    { ...short, right: 6, row: 1, ...wrong({ [stop]: null }) },
    { ...short, right: 6, row: 2, ...wrong({ [short.prompt - 1]: 0.05, [short.prompt - 2]: 0.02 }) },
    {
      ...other,
      row: 3,
      right: 2,
      ...wrong({ [other.prompt]: { weight: 0.05, target: other.ids[other.prompt + 1] } }),
    },
    { ...short, left: 5, step: 1, forward: 1, row: 0, weight: -0.0147, spans: sampled },
    { ...other, left: 1, step: 1, forward: 1, row: 1, weight: 0.0147, spans: sampled },
    { ...other, left: 1, step: 1, forward: 1, row: 2, weight: 0, spans: sampled },
    ...(long > 0
      ? [{ ...talk('word '.repeat(long), 'more '.repeat(long)), step: 1, forward: 2, row: 0 }]
      : []),
  ];
  return ledgerOf({
    rows,
    tokenizer,
    eos: [EOS],
    pad: tokenizer.padTokenId ?? 0,
    versions: { torch: '2.13.0', transformers: '5.18.0', trl: '1.13.0' },
    settings: { from: ['SFTConfig(assistant_only_loss=True)'] },
    models: [{ vocab_size: 300 }, { vocab_size: 300 }],
  });
}

/** The run that judged it: one property that holds, and one that fails in the second row. */
export function tracedRun(ledger: Ledger, fails: boolean): Run {
  const facts = [
    ['mask/stop-token-is-trained', 'mask', 'The stop token of every finished answer is trained.'],
    [
      'trace/target-is-the-next-token',
      'trace',
      'What is trained at a position is the next token of its row.',
    ],
  ] as const;
  const row = ledger.rows[1];
  const results = facts.map(
    ([id, , title], at): PropertyResult => ({
      id,
      title,
      level: 'must',
      ...NOT_TRIED,
      cases: 7,
      ...(fails && at === 0 && row !== undefined
        ? {
            verdict: 'fail',
            failure: {
              caseId: 'abc',
              given: { step: 0, rank: 0, forward: 0, row: 1, input_ids: row.ids },
              finding: {
                kind: 'stop-untrained',
                sentence: "In step 0, row 1, the answer ends with '<|im_end|>', which is not trained.",
                strips: [stripOfRow({ row, marks: [row.ids.indexOf(EOS, 12)] }, ledger.tokenizer)],
              },
              casesToFail: 1,
              shrinks: 0,
              confirmed: 'deterministic',
              seed: 0,
              lines: [],
            },
          }
        : { verdict: 'pass' }),
    }),
  );
  return {
    start: {
      type: 'run-start',
      seed: 0,
      cases: 0,
      hello: { protocol: 1, name: 'train.py', ops: {}, runtime: 'python 3.11.2, torch 2.13.0' },
      command: 'python train.py',
      properties: facts.map(([id, stage, title]) => ({
        id,
        stage,
        title,
        level: 'must',
        why: '',
        catches: [],
      })),
      version: '0.1.0',
      replay: {
        command: '',
        again: 'npx lossproof trace --from .lossproof/trace/2026-03-01T09-30-00',
        traced: true,
      },
    },
    results,
    end: { type: 'run-end', interrupted: false, milliseconds: 12 },
  };
}
