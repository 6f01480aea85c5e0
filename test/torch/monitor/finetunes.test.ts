// One seed of each fine-tune: a healthy run is green, also beside another seed; a fault that its log shows is found, alone or
// beside a healthy run; and one that no log can show is not guessed at.
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  FINETUNES,
  HEALTHY,
  isFound,
  type Kind,
  kindOf,
  METHODS,
  nameOf,
  reasonOf,
  trainingsOf,
} from './finetunes.ts';
import { canCompare, failedIn, type Monitored, monitored, TRAINING_TIMEOUT, trained } from './runs.ts';

const compares = await canCompare();

let folder = '';
beforeAll(async () => {
  folder = await trained({});
  const model = join(folder, 'base');
  const named = FINETUNES.map((each) => {
    const seeds = each.fault === HEALTHY && compares ? 2 : 1;
    return [nameOf(each), trainingsOf(each, seeds, model)] as const;
  });
  await trained(Object.fromEntries(named), { mayDie: true, folder });
}, TRAINING_TIMEOUT);

describe.each(METHODS)('%s', (method) => {
  const ofKind = (kind: Kind) =>
    FINETUNES.flatMap((each) =>
      each.method === method && each.expected !== undefined && kindOf(each.expected) === kind
        ? [[each.fault, reasonOf(each.expected), each.expected] as const]
        : [],
    );
  const log = (fault: string, seed = 0): string => join(folder, method, fault, `seed-${seed}`);

  test('without a fault: not blamed', async () => quiet(await monitored(log(HEALTHY))));

  test.runIf(compares)('without a fault, beside another seed: not blamed', async () =>
    quiet(await monitored(log(HEALTHY), '--baseline', log(HEALTHY, 1))),
  );

  test.concurrent.each(ofKind('shown'))('%s: found%s', async (fault, _, expected) => {
    const run = await monitored(log(fault));
    expect(isFound(rulesOf(run), expected), run.out).toBe(true);
    expect(run.exitCode, run.out).toBe(1);
  });

  test.concurrent.each(compares ? ofKind('beside') : [])(
    '%s: found beside a healthy run: %s',
    async (fault, _, expected) => {
      const run = await monitored(log(fault), '--baseline', log(HEALTHY, 1));
      expect(isFound(rulesOf(run), expected), run.out).toBe(true);
      expect(run.exitCode, run.out).toBe(1);
    },
  );

  test.concurrent.each(ofKind('hidden'))('%s: not to be seen: %s', async (fault) => {
    const run = await monitored(log(fault));
    expect(rulesOf(run), run.out).toEqual([]);
  });
});

function quiet(run: Monitored): void {
  expect(rulesOf(run), run.out).toEqual([]);
  expect(run.exitCode, run.out).toBe(0);
}

const rulesOf = (run: Monitored): readonly string[] => failedIn(run).map((id) => id.replace('monitor/', ''));
