// One seed of each fine-tune: a healthy run is green, a fault that its log shows is found, and one that no log can show is not
// guessed at.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { FINETUNES, HEALTHY, isHidden, METHODS, nameOf, trainingsOf } from './finetunes.ts';
import { failedIn, monitored, TRAINING_TIMEOUT, trained } from './runs.ts';

let folder = '';
beforeAll(async () => {
  const model = join(await trained({}), 'base');
  const named = FINETUNES.map((each) => [nameOf(each), trainingsOf(each, 1, model)] as const);
  folder = await trained(Object.fromEntries(named), { mayDie: true });
}, TRAINING_TIMEOUT);

describe.each(METHODS)('%s', (method) => {
  const all = FINETUNES.filter((each) => each.method === method);

  test('without a fault: not blamed', async () => {
    const run = await monitored(join(folder, method, HEALTHY));
    expect(failedIn(run), run.out).toEqual([]);
    expect(run.exitCode, run.out).toBe(0);
  });

  test.concurrent.each(
    all.flatMap(({ fault, expected }) =>
      expected === undefined || isHidden(expected) ? [] : [[fault, expected.by] as const],
    ),
  )('%s: found', async (fault, by) => {
    const run = await monitored(join(folder, method, fault));
    const found = failedIn(run).map((id) => id.replace('monitor/', ''));
    expect(
      found.filter((rule) => by === undefined || by.includes(rule)),
      run.out,
    ).not.toEqual([]);
    expect(run.exitCode, run.out).toBe(1);
  });

  test.concurrent.each(
    all.flatMap(({ fault, expected }) =>
      expected !== undefined && isHidden(expected) ? [[fault, expected.hidden] as const] : [],
    ),
  )('%s: not to be seen, %s', async (fault) => {
    const run = await monitored(join(folder, method, fault));
    expect(failedIn(run), run.out).toEqual([]);
  });
});
