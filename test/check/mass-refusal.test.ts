// Trainers that refuse what would show their bug, and enough of the rest to hide that: none of them is green.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exitCodeOf, HOLDS, NO_VERDICT, whyNoVerdict } from '../../src/cli/exit.ts';
import { discard, type Property, type PropertyResult, reject, run, type Trainer } from '../../src/index.ts';
import { makeWorld } from '../cli/world.ts';
import { echoes, extracting, type ToyCase } from './toy.ts';

type Change = Partial<Property> & { readonly cases?: number; readonly strict?: boolean };

async function judged(
  trainer: Trainer,
  { cases = 100, strict = false, ...change }: Change = {},
): Promise<PropertyResult> {
  const property = { ...echoes, coverage: {}, ...change } as unknown as Property;
  const [result] = await run(
    { trainer, tokenizer: undefined, properties: [property], seed: 7, cases, strict, command: 'test' },
    () => undefined,
  );
  if (result === undefined) throw new Error('no result');
  return result;
}

/** Loses the last id, and refuses whatever has one; of the rest, too, it refuses 11 of 12. */
function hiding(): Trainer {
  let asked = 0;
  return extracting((ids) => (ids.length > 0 || asked++ % 12 > 0 ? reject('busy') : ids.slice(0, -1)));
}

/** Right on what it answers. */
const answering = (isAnswered: (ids: readonly number[], asked: number) => boolean): Trainer => {
  let asked = 0;
  return extracting((ids) => (isAnswered(ids, asked++) ? ids : reject('not this one')));
};

function setsAsideEachSeventh(): Property['check'] {
  let at = 0;
  return async (subject, given) =>
    at++ % 7 === 0 ? discard('nothing to judge') : echoes.check(subject, given as ToyCase);
}

/** No two cases alike: a request is sent once, and its refusal counts for each case that asks it. */
const DISTINCT: Change = {
  given: () => fc.record({ ids: fc.array(fc.nat(1e6), { minLength: 2, maxLength: 8, size: 'max' }) }),
};

describe('a property of which the trainer refuses more than four fifths is skipped, and its run is no success', () => {
  test.each<[how: string, trainer: () => Trainer, change?: Change]>([
    ['what would show the bug, and 92 % of the rest', hiding],
    ['57 of 60 at random', () => answering((_, asked) => asked % 20 === 0), { ...DISTINCT, cases: 60 }],
    ['hardly more than four fifths', () => answering((_, asked) => asked % 20 < 3), DISTINCT],
    [
      'hardly more than half, with --strict',
      () => answering((_, asked) => asked % 20 < 9),
      { ...DISTINCT, strict: true },
    ],
    ['all but what is empty', () => answering((ids) => ids.length === 0)],
    ['most of a few cases', () => answering((_, asked) => asked === 7), { ...DISTINCT, cases: 10 }],
    [
      'four fifths, where the check sets some of the rest aside',
      () => answering((_, asked) => asked % 5 === 0),
      { ...DISTINCT, check: setsAsideEachSeventh() },
    ],
  ])('%s', async (_, trainer, change = {}) => {
    const result = await judged(trainer(), change);
    expect(result).toMatchObject({
      verdict: 'skipped',
      reason: expect.stringMatching(/^only \d+ of \d+ cases could be judged: /),
    });
    expect(exitCodeOf([result], false, [echoes])).toBe(NO_VERDICT);
  });

  test('a third of the cases is enough, and with --strict half', async () => {
    expect(
      (
        await judged(
          answering((_, asked) => asked % 3 === 0),
          DISTINCT,
        )
      ).verdict,
    ).toBe('pass');
    expect(
      (
        await judged(
          answering((_, asked) => asked % 2 === 0),
          { ...DISTINCT, strict: true },
        )
      ).verdict,
    ).toBe('pass');
  });
});

describe('a run of which an op was mostly refused is no success, although some property of it holds', () => {
  const holds = { verdict: 'pass', cases: 100, rejected: 0, setAside: 0 } as PropertyResult;
  const lost = { ...holds, verdict: 'skipped', rejected: 92 } as PropertyResult;
  const unsupported = { ...holds, verdict: 'unsupported', cases: 0 } as PropertyResult;
  const many = (result: PropertyResult, count: number, op = 'mask'): readonly Of[] =>
    Array(count).fill({ op, result });
  const asRun = (all: readonly Of[]) => ({
    results: all.map(({ result }, at) => ({ ...result, id: `${at}` })),
    facts: all.map(({ op }, at) => ({ id: `${at}`, ops: [op] })),
  });

  test.each<[string, readonly Of[], number]>([
    ['18 of 19 are refused', [...many(lost, 18), ...many(holds, 1)], NO_VERDICT],
    ['two of three are refused', [...many(lost, 2), ...many(holds, 1)], NO_VERDICT],
    ['everything holds of another op', [...many(lost, 2), ...many(holds, 100, 'kl')], NO_VERDICT],
    ['as many hold as are refused', [...many(lost, 1), ...many(holds, 1)], HOLDS],
    ['the others are of ops that it does not offer', [...many(unsupported, 18), ...many(holds, 1)], HOLDS],
    [
      'the others say nothing by the check itself',
      [...many({ ...lost, rejected: 0, setAside: 92 }, 18), ...many(holds, 1)],
      HOLDS,
    ],
  ])('where %s', (_, all, code) => {
    const { results, facts } = asRun(all);
    expect(exitCodeOf(results, false, facts)).toBe(code);
  });

  test('it says why', () => {
    const { results, facts } = asRun([...many(lost, 2), ...many(holds, 3), ...many(holds, 1, 'kl')]);
    expect(whyNoVerdict(results.slice(0, 3), facts)).toMatch(
      /^no verdict: the trainer refused most cases of 2 properties that ask `mask`\. /,
    );
  });
});

interface Of {
  readonly op: string;
  readonly result: PropertyResult;
}

test('the command ends with 2 for a wrong trainer that refuses what shows it, also under --strict', async () => {
  for (const more of [[], ['--strict']]) {
    const world = makeWorld();
    world.write('adapter.py', REFUSING);
    const argv = ['check', '--seed', '7', '--level', 'should', ...more, '--', 'python3', 'adapter.py'];
    expect(await world.run(...argv), world.both()).toBe(NO_VERDICT);
    expect(world.out()).toMatch(/2 properties: 2 skipped/);
  }
});

const REFUSING = `
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        answer = {"ok": {"protocol": 1, "name": "tiny", "ops": {"collate": {}}}}
    elif sum(map(len, request["args"]["input_ids"])) > 2:
        answer = {"reject": "busy"}
    else:
        rows = request["args"]["input_ids"]
        width = max(map(len, rows))
        pad = lambda row, by: row + [by] * (width - len(row))
        answer = {"ok": {
            "input_ids": [pad(row, 0) for row in rows],
            "attention_mask": [pad([1] * len(row), 0) for row in rows],
            "labels": [pad(row, -100) for row in rows],
        }}
    print(json.dumps({"id": request["id"], **answer}), flush=True)
`;
