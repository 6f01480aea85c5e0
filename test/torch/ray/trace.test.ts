// `lossproof trace` under a real Ray: an actor-learner script has the ledger and the verdicts that it has in one process, wherever its
// actors are; the script's own runtime environment is as it was; what cannot be seen is said.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Traced } from '../trace/verdicts/run.ts';
import { blamedIn } from '../trace/verdicts/run.ts';
import { type Node, removeFolders, saidBy, startNode, traced, withoutPlaces } from './trace-run.ts';

/** Of a node, in milliseconds; of use only against a hang. */
const TO_START = 300_000;

const FAULTS: Readonly<Record<string, string>> = {
  prompt: 'mask/prompt-is-never-trained',
  shifted: 'mask/prompt-is-never-trained',
  'stop-untrained': 'mask/stop-token-is-trained-once',
};

afterAll(removeFolders);

const alone = new Map<string, Promise<Traced>>();
/** The same words in one process, run once. */
function without(words: string): Promise<Traced> {
  const known = alone.get(words) ?? traced(words);
  alone.set(words, known);
  return known;
}

async function expectTheSame(run: Traced, words: string): Promise<void> {
  const one = await without(words);
  expect(one.ledger.rows).toHaveLength(32);
  expect(one.ledger.generations).toHaveLength(32);
  expect(withoutPlaces(run.ledger)).toEqual(withoutPlaces(one.ledger));
  expect(saidBy(run)).toEqual(saidBy(one));
  expect(run.exitCode, run.out).toBe(one.exitCode);
  expect(run.out).not.toContain('!  ');
  expect(run.out).not.toContain('not all of it could be seen');
}

/** What the tracer has brought along, and what nodes that share no file with the driver have recorded: none of it is left. */
const left = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.startsWith('lossproof-trace-'));

/** As it is read, whatever the width of the screen. */
const read = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** Of the processes that had something to record. */
const named = ({ ledger }: Traced): readonly unknown[] =>
  ledger.processes.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])).sort();

describe('a cluster that the script starts', () => {
  for (const sampler of ['loop', 'generate'])
    test(`has the ledger of one process: ${sampler}`, async () => {
      const run = await traced(`--ray init --sampler ${sampler}`);
      await expectTheSame(run, `--sampler ${sampler}`);
      expect(run.exitCode).toBe(0);
      expect(named(run)).toEqual(['actor Policy', 'actor Rollout', 'actor Rollout', 'driver']);
      expect(read(run.out)).toMatch(/trained, in actor Policy \(pid \d+\)/);
      expect(left(run.folder)).toEqual([]);
    });

  for (const [fault, id] of Object.entries(FAULTS))
    test(`is blamed as one process is: ${fault}`, async () => {
      const run = await traced(`--ray init --fault ${fault}`);
      await expectTheSame(run, `--fault ${fault}`);
      expect(blamedIn(run).map(([blamed]) => blamed)).toContain(id);
      expect(run.exitCode).toBe(1);
    });

  test('by the first remote call, from within a task', async () => {
    const run = await traced('--ray implicit --within-task');
    await expectTheSame(run, '--sampler loop');
    expect(named(run)).toEqual(['actor Policy', 'actor Rollout', 'actor Rollout', 'driver']);
  });

  test('ranks are ranks, and rollouts are none of them', async () => {
    const { ledger, exitCode, out } = await traced('--ray init --learners 2');
    expect(exitCode, out).toBe(0);
    expect(ledger.rows).toHaveLength(32);
    expect(new Set(ledger.rows.map(({ rank }) => rank))).toEqual(new Set([0, 1]));
    expect(ledger.steps.map(({ ranks }) => ranks.map(({ rank }) => rank))).toEqual([
      [0, 1],
      [0, 1],
    ]);
    expect(ledger.replicas).toMatchObject([{ ranks: [0, 1], wrapper: 'DistributedDataParallel' }]);
    expect(ledger.rows.map(({ spans }) => spans.origin.kind)).toEqual(ledger.rows.map(() => 'generation'));
  });

  test('to its own end: actors that were let go, and those that the script has killed when they were done', async () => {
    const run = await traced('--ray init --kill done --leave shutdown', '--keep-going');
    await expectTheSame(run, '--sampler loop');
    expect(run.out).toContain('end of script');
  });

  test('an actor that is killed is named, and what it had trained is judged', async () => {
    const { out, ledger, exitCode } = await traced('--ray init --kill learner', '--keep-going');
    expect(exitCode, out).toBe(0);
    expect(read(out)).toMatch(
      /! Actor Policy \(pid \d+ on \S+\) was ended from outside; only the part that it had recorded/,
    );
    expect(out).toContain('not all of it could be seen');
    expect(ledger.steps).toHaveLength(2);
    expect(ledger.rows).toHaveLength(32);
  });
});

describe('a cluster that was there before', () => {
  let head: Node;
  beforeAll(async () => {
    head = await startNode();
  }, TO_START);
  afterAll(() => head?.end(), TO_START);

  test("keeps the script's own runtime environment, that of single actors too", async () => {
    const run = await traced(`--ray init --address ${head.address} --own --by-options`);
    await expectTheSame(run, '--sampler loop');
    const hook = "'MARK_OF_HOOK': 'called in every worker'";
    for (const kind of ['Rollout', 'Policy'])
      expect(read(run.out)).toContain(`{'MARK_OF_JOB': 'job', 'MARK_OF_ACTOR': '${kind}', ${hook}}`);
    expect(left(head.folder)).toEqual([]);
  });

  test('a node that dies takes its records with it, which is said', async () => {
    const second = await startNode({
      address: head.address,
      resource: 'second',
      env: { LOSSPROOF_TRACE_APART: '1' },
    });
    try {
      const words = `--ray init --address ${head.address} --rollouts-on second --end-node ${second.group}`;
      const { out, exitCode, ledger } = await traced(words, '--keep-going');
      const told = read(out);
      expect(told).toMatch(
        /! The records of actor Rollout \(pid \d+\), actor Rollout \(pid \d+\) on \S+ could not be collected/,
      );
      expect(told).toContain('its node is gone');
      expect(ledger.rows).toHaveLength(32);
      expect(ledger.generations).toEqual([]);
      expect(exitCode, out).not.toBe(1);
    } finally {
      await second.end();
    }
  });
});

describe('a node that shares no file with the driver', () => {
  let head: Node;
  beforeAll(async () => {
    head = await startNode({ env: { LOSSPROOF_TRACE_APART: '1' } });
  }, TO_START);
  afterAll(() => head?.end(), TO_START);

  test('gets the tracer from Ray, and gives its records back', async () => {
    const run = await traced(`--ray init --address ${head.address} --by-options`);
    await expectTheSame(run, '--sampler loop');
    const files = readdirSync(join(run.folder, 'trace'));
    expect(files.filter((name) => name.endsWith('.ndjson'))).toHaveLength(4);
    expect(files.filter((name) => !/^(\d+-\d+(-\w+)?\.ndjson|tokenizer-\S+)$/.test(name))).toEqual([]);
    expect(left(head.folder)).toEqual([]);
  });

  test('also of a script with a mistake', async () => {
    const run = await traced(`--ray init --address ${head.address} --fault prompt`);
    await expectTheSame(run, '--fault prompt');
    expect(run.exitCode).toBe(1);
  });
});
