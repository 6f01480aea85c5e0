// Rollout files beside a log that `gap` can compare: `monitor` names the command, quoted for the shell.
import { expect, test } from 'vitest';
import { gapNote } from '../../../src/cli/monitor/gap-note.ts';
import { makeWorld } from '../world.ts';
import { KL, lines, loggedWorld, RUN } from './logged.ts';

const BOTH = { prompt_ids: [1], completion_ids: [2], rollout_log_probs: [-0.5], old_log_probs: [-0.5] };
const fileOf = (path: string) => ({ path, run: 'run', kind: 'json' as never });

test('files with both sides are named, and no others', () => {
  const world = makeWorld();
  world.write('a b.jsonl', `${JSON.stringify({ step: 1 })}\n${JSON.stringify(BOTH)}\n`);
  world.write('c.jsonl', JSON.stringify(BOTH));
  world.write('one.jsonl', JSON.stringify({ ...BOTH, old_log_probs: undefined }));
  world.write('cut.jsonl', JSON.stringify(BOTH).slice(0, -5));
  const context = { cwd: world.folder };
  const named = gapNote(['one.jsonl', 'a b.jsonl', 'cut.jsonl', 'c.jsonl'].map(fileOf), context);
  expect(named).toContain('a b.jsonl and 1 more have the log-probabilities of engine and trainer');
  expect(named).toContain("npx lossproof gap 'a b.jsonl' c.jsonl shows where they differ");
  expect(gapNote(['one.jsonl', 'cut.jsonl', 'none.jsonl'].map(fileOf), context)).toBeUndefined();
});

test('the run of monitor shows it', async () => {
  const world = loggedWorld(lines(1, 80));
  expect(await world.run('monitor', RUN, ...KL), world.both()).toBe(0);
  expect(world.out()).not.toContain('lossproof gap');
  world.write(`${RUN}/rollouts.jsonl`, JSON.stringify(BOTH));
  expect(await world.run('monitor', RUN, ...KL), world.both()).toBe(0);
  expect(world.out().replaceAll(/\s+/g, ' ')).toContain('has the log-probabilities of engine and trainer');
});
