// What is said of shards as the driver tells of them: each that is lost or refuses by name, at once, and how many are done.
import { expect, test } from 'vitest';
import type { Said } from '../../../src/cli/ray/driver.ts';
import { type Shards, shardsOf } from '../../../src/cli/ray/shards.ts';

const CLUSTER = { ray: '2.60.0', nodes: 2, cpus: 4, gpus: 0, dashboard: null, shards: 3 };
const NODE = '10.0.0.6 (3f2a91bc)';

function heard(...said: readonly Said[]): {
  shards: Shards;
  lines: string[];
  complaints: string[];
  enough: boolean;
} {
  const shards = shardsOf(CLUSTER, 41, () => 0);
  const all = said.map((each) => shards.hear(each));
  return {
    shards,
    lines: all.flatMap(({ lines }) => lines),
    complaints: all.flatMap(({ complaints }) => complaints),
    enough: all.some(({ enough }) => enough === true),
  };
}

const started = (shard: number, attempt = 1): Said => ({ shard, started: { node: NODE }, try: attempt });
const line = (shard: number, event: object): Said => ({ shard, line: JSON.stringify(event) });
const ended = (shard: number, code: number, stderr = ''): Said => ({
  shard,
  ended: { code, stderr },
  node: NODE,
});
const RESULT = { type: 'property-end', result: {} };
const END = { type: 'run-end', interrupted: false };

test('a shard is done when its run has ended, whatever it found', () => {
  const { shards, lines, complaints } = heard(started(2), line(2, RESULT), line(2, END), ended(2, 1));
  expect(lines).toEqual([`shard 2 of 3 done on ${NODE}: 1 property, 0 ms`]);
  expect(complaints).toEqual([]);
  expect(shards.progress()).toBe('1 of 3 shards done, waiting for the cluster · 1 of 41 properties');
  expect(shards.missing()).toEqual([1, 3]);
});

test('what a lost try has judged does not count', () => {
  const lost: Said = { shard: 1, lost: 'the node died', node: NODE, again: true, try: 1 };
  const { shards, lines, complaints } = heard(started(1), line(1, RESULT), line(1, END), lost, started(1, 2));
  expect(complaints).toEqual([`shard 1 of 3 was lost on ${NODE}: the node died; it is run again`]);
  expect(lines).toEqual([`shard 1 of 3 runs again on ${NODE}`]);
  expect(shards.progress()).toBe('0 of 3 shards done, 1 running · 0 of 41 properties');
});

test.each([
  [1, 'it is not run again'],
  [3, 'it is not run again after 3 tries'],
])('lost for good after %i', (attempt, said) => {
  const { shards, complaints } = heard(started(1, attempt), {
    shard: 1,
    lost: 'its worker was killed',
    node: NODE,
    again: false,
    try: attempt,
  });
  expect(complaints).toEqual([`shard 1 of 3 was lost on ${NODE}: its worker was killed; ${said}`]);
  expect(shards.missing()).toEqual([1, 2, 3]);
});

test.each([
  ['none', []],
  ['an interrupted one', [line(1, { ...END, interrupted: true })]],
])(
  'the end of a run is missing (%s): no verdict, whatever the exit code, and nothing more is started',
  (_, lines) => {
    const { complaints, enough, shards } = heard(
      started(1),
      ...lines,
      ended(1, 0, 'Traceback\n\u001b[31mred'),
    );
    expect(complaints).toEqual([
      `shard 1 of 3 gave no verdict on ${NODE} (exit code 0)`,
      '  Traceback',
      expect.stringMatching(/^ {2}.*red$/),
    ]);
    expect(complaints.join('')).not.toContain('\u001b');
    expect(enough).toBe(true);
    expect(shards.done()).toBe(0);
  },
);

test('the same words are said once', () => {
  const { complaints } = heard(started(1), started(2), ended(1, 2, 'no torch'), ended(2, 2, 'no torch'));
  expect(complaints).toEqual([
    `shard 1 of 3 gave no verdict on ${NODE} (exit code 2)`,
    '  no torch',
    `shard 2 of 3 gave no verdict on ${NODE} (exit code 2)`,
    '  the same as shard 1',
  ]);
});

test('a node that cannot run shards', () => {
  const { complaints, enough } = heard({ shard: 3, unfit: 'has no Node.js; install it there', node: NODE });
  expect(complaints).toEqual([`shard 3 of 3 cannot run: node ${NODE} has no Node.js; install it there`]);
  expect(enough).toBe(true);
});
