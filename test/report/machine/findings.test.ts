// The document for programs: valid by its schema whatever the run holds, and enough to act on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { findingsJson } from '../../../src/report/machine/findings.ts';
import type { Run } from '../../../src/report/runs.ts';
import { failure, maskStrip, result } from '../results.ts';
import { broken, cutOff, failing, HOSTILE, runWith } from './finished.ts';

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'findings.schema.json'), 'utf8'),
) as object;
const validate = new Ajv2020().compile(schema);

interface Finding {
  readonly property: string;
  readonly next: readonly string[];
  readonly [field: string]: unknown;
}

function documentOf(...runs: readonly Run[]): {
  runs: readonly { findings: readonly Finding[]; finished: boolean }[];
} {
  const document = JSON.parse(findingsJson(runs)) as ReturnType<typeof documentOf>;
  expect(validate(document), JSON.stringify(validate.errors?.[0])).toBe(true);
  return document;
}

describe('--findings', () => {
  test('has what does not hold, most important first, and nothing that holds', () => {
    const [run] = documentOf(
      runWith([
        result(),
        result({ id: 'mask/thin', verdict: 'thin', reason: 'only 1 % had padding' }),
        broken('mask/y'),
        failing('mask/x'),
      ]),
    ).runs;
    expect(run?.findings.map(({ property }) => property)).toEqual(['mask/x', 'mask/y', 'mask/thin']);
  });

  test('shows the wrong token with both values, and numbers that JSON does not have as words', () => {
    const numbers = [{ where: 'loss', expected: 1, observed: Number.NaN, allowed: 1e-6 }];
    const finding = { kind: 'off', sentence: 'It is off.', strips: [maskStrip()], numbers };
    const [run] = documentOf(
      runWith([result({ id: 'mask/x', verdict: 'fail', failure: failure({ finding }) })]),
    ).runs;
    expect(run?.findings[0]).toMatchObject({
      kind: 'off',
      tokens: [
        { row: 1, column: 5, id: 2117, text: ' cap', tracks: { expected: '0', observed: '1' } },
        { row: 1, column: 7, id: 2, text: '</s>', tracks: { expected: '1', observed: '0' } },
      ],
      numbers: [{ observed: 'NaN' }],
    });
  });

  test('says what to type next: the saved case, the same draw, the explanation', () => {
    const [run] = documentOf(runWith([failing('mask/x')])).runs;
    expect(run?.findings[0]?.next.at(-1)).toBe('npx lossproof explain mask/x');
    expect(run?.findings[0]?.next.some((line) => line.includes('replay'))).toBe(true);
  });

  test('has the declarations that answer a question', () => {
    const answers = ['"kl_clamp": 1'];
    const asked = result({ id: 'kl/x', verdict: 'ask', reason: 'it may be meant', answers });
    expect(documentOf(runWith([asked])).runs[0]?.findings[0]).toMatchObject({ verdict: 'ask', answers });
  });

  test('is valid for hostile text, for a run that was cut off, and for none', () => {
    const hostile = result({ id: 'mask/x', verdict: 'fail', reason: HOSTILE });
    expect(findingsJson([runWith([hostile])])).not.toContain('\u001b');
    expect(documentOf(cutOff(runWith([result()]))).runs[0]?.finished).toBe(false);
    expect(documentOf().runs).toEqual([]);
  });
});
