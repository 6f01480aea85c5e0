// A traced run: steps of two micro-batches, padded at the right, every token of the answers trained with the weight of a mean
// over the step; now and then a row whose last token is not.

import type { Run } from '../../../src/report/runs.ts';
import type { Ledger } from '../../../src/trace/ledger.ts';
import { ledgerOf, type TrainedRowSketch } from '../../../test/trace/traced.ts';
import { numbers, turnOf } from './view.ts';

const BATCH = 8;
const BATCHES = 2;
/** Every so many rows one is wrong. */
const WRONG = 100;
const EOS = 2;

export function tracedOf(rows: number): { readonly ledger: Ledger; readonly run: Run } {
  const next = numbers(11);
  const drawn = Array.from({ length: rows }, () => {
    const [prompt, answer] = [
      [...turnOf(next), ...turnOf(next)],
      [...turnOf(next), ...turnOf(next), EOS],
    ];
    return { ids: [...prompt, ...answer], prompt: prompt.length };
  });
  const sketches = drawn.map(({ ids, prompt }, at): TrainedRowSketch => {
    const batch = Math.floor(at / BATCH);
    const longest = Math.max(...drawn.slice(batch * BATCH, (batch + 1) * BATCH).map((row) => row.ids.length));
    return {
      ids,
      prompt,
      right: longest - ids.length,
      step: Math.floor(batch / BATCHES),
      forward: batch,
      row: at % BATCH,
      ...(at % WRONG === WRONG - 1 ? { at: { [ids.length - 1]: null } } : {}),
    };
  });
  return { ledger: ledgerOf({ rows: sketches }), run: RUN };
}

/** What judged it: nothing of the carpet depends on it, but that something fails. */
const RUN: Run = {
  start: {
    type: 'run-start',
    seed: 0,
    cases: 0,
    hello: { protocol: 1, name: 'train.py', ops: {} },
    command: 'python train.py',
    properties: [],
    version: '0.1.0',
    replay: { command: '', again: 'lossproof trace --from .lossproof/trace/run', traced: true },
  },
  results: [
    {
      id: 'mask/stop-token-is-trained',
      title: 'The stop token of every finished answer is trained.',
      level: 'must',
      verdict: 'fail',
      cases: 1,
      rejected: 0,
      setAside: 0,
      labels: {},
      thin: [],
      fixed: [],
      milliseconds: 0,
    },
  ],
  end: { type: 'run-end', interrupted: false, milliseconds: 12 },
};
