// A mask that is read as a length is right where a completion is one answer: nobody has said so, it is asked; the adapter offers tools,
// it is wrong; it is declared, nothing is asked.
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { NOT_MEASURED } from '../../../src/check/profile/measured.ts';
import { type PropertyResult, reject, run, type Semantics } from '../../../src/index.ts';
import { legal } from '../../conformance/legal.ts';
import { klOfLengths, lossOfLengths } from '../../conformance/losses/single-turn.ts';

const GAPS = [
  'kl/a-gap-in-the-mask-is-no-token',
  'loss/a-gap-in-the-mask-is-no-token',
  'loss/logged-gap-leaves-out-what-a-tool-wrote',
];

async function judged(semantics: Semantics, tools: object = {}): Promise<readonly PropertyResult[]> {
  const { trainer } = legal(
    'lengths',
    { loss: lossOfLengths, kl: klOfLengths, ...tools },
    { can: { loss: { sampling_logprobs: true } }, semantics: { kl_estimator: 'k1', ...semantics } },
  );
  return await run(
    {
      trainer,
      tokenizer: undefined,
      properties: properties.filter(({ id, level }) => level === 'must' && GAPS.includes(id)),
      seed: 5,
      cases: 10,
      command: 'test',
      measured: NOT_MEASURED,
      shrinkMilliseconds: 0,
    },
    () => undefined,
  );
}

const verdicts = (results: readonly PropertyResult[]): string[] =>
  results.map(({ id, verdict }) => `${id}: ${verdict}`).sort();
const each = (verdict: string): string[] => GAPS.map((id) => `${id}: ${verdict}`);

test('it is a question where nothing is said', async () => {
  const results = await judged({});
  expect(verdicts(results)).toEqual(each('ask'));
  expect(results.map(({ failure }) => failure?.finding?.answers)).toEqual(
    GAPS.map(() => [expect.stringMatching(/^"single_turn": true {2}\(/)]),
  );
});

test('it is wrong where tools are offered, whatever is declared, and where several turns are declared', async () => {
  const tools = { trajectory: () => reject('not here') };
  expect(verdicts(await judged({}, tools))).toEqual(each('fail'));
  expect(verdicts(await judged({ single_turn: true }, tools))).toEqual(each('fail'));
  expect(verdicts(await judged({ single_turn: false }))).toEqual(each('fail'));
});

test('it is right where single turns are declared', async () => {
  const results = await judged({ single_turn: true });
  expect(verdicts(results)).toEqual(each('unsupported'));
  expect(results[0]?.reason).toBe(
    'semantics.single_turn is true: no masked token stands between trained ones',
  );
});
