// Functions of plain Python with one thing wrong each, at a place that is easily overlooked: never bound as right, and what is right
// beside them is.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { parseStrict } from '../../../src/outside/json.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { makeWorld, type World } from '../world.ts';

interface Json {
  readonly bound: readonly {
    readonly function: string;
    readonly op: string;
    readonly call: string;
    readonly answers: readonly string[];
  }[];
  readonly misfits: readonly {
    readonly op: string;
    readonly broken: readonly { readonly property: string }[];
  }[];
  readonly open: readonly { readonly op: string; readonly why: string }[];
  readonly uncalled: readonly { readonly function: string; readonly why: string }[];
}

const PLAIN = readFileSync(join(PACKAGE_ROOT, 'test/torch/discover/own/plain.py'), 'utf8');

async function found(text: string, op: string, world: World = makeWorld(properties)): Promise<Json> {
  world.write('trainer.py', text);
  await world.run('discover', 'trainer.py', '--python', 'python3', '--json', '--only', op);
  const parsed = parseStrict(world.out());
  if (!('ok' in parsed)) throw new Error(parsed.complaint);
  return parsed.ok as Json;
}

/** What breaks, where nothing is bound and one function is nearly. */
async function brokenIn(text: string, op: string): Promise<readonly string[]> {
  const { bound, misfits } = await found(text, op);
  expect(bound).toEqual([]);
  expect(misfits.map((each) => each.op)).toEqual([op]);
  return misfits.flatMap(({ broken }) => broken.map(({ property }) => property));
}

function instead(text: string, stretch: string, other: string): string {
  expect(text.split(stretch)).toHaveLength(2);
  return text.replace(stretch, other);
}

describe('a second output', () => {
  const GAE = [
    'def gae(rewards, values, mask, gamma, lam):',
    '    advantages, returns = [], []',
    '    for reward, value, trained in zip(rewards, values, mask):',
    '        row, running, after = [0.0] * len(reward), 0.0, 0.0',
    '        for t in reversed([at for at, on in enumerate(trained) if on]):',
    '            running = reward[t] + gamma * after - value[t] + gamma * lam * running',
    '            row[t], after = running, value[t]',
    '        advantages.append(row)',
    '        returns.append([each + own for each, own in zip(row, value)])',
    '    return advantages, returns',
    '',
  ].join('\n');

  test('that holds is answered', async () => {
    const { bound } = await found(GAE, 'gae');
    expect(bound.map(({ answers }) => answers)).toEqual([['advantages', 'returns']]);
    const { bound: collated } = await found(PLAIN, 'collate');
    expect(collated.map(({ answers }) => answers.at(-1))).toEqual(['position_ids']);
  });

  test('that is wrong is what is shown, though all else holds', async () => {
    expect(await brokenIn(instead(GAE, 'each + own', 'each - own'), 'gae')).toEqual([
      'gae/returns-are-advantages-plus-values',
    ]);
    const ones = instead(PLAIN, '[0] * left + [1] * len(row)', '[1] * width');
    expect(await brokenIn(ones, 'collate')).toEqual(['collate/attention-covers-exactly-the-examples']);
    const counted = instead(PLAIN, '[0] * left + list(range(len(row)))', 'list(range(width))');
    expect(await brokenIn(counted, 'collate')).toEqual(['collate/positions-count-real-tokens']);
  });

  test('that has no name, and would be wrong, is asked about', async () => {
    const text = instead(
      instead(GAE, 'each + own', 'each - own'),
      'return advantages, returns',
      'return tuple([advantages, returns])',
    );
    const { bound, open } = await found(text, 'gae');
    expect(bound).toEqual([]);
    expect(open.map(({ why }) => why)).toEqual([
      expect.stringMatching(
        /^it holds, and no name says whether \[1\] of what it returns is `returns`. If so, it is wrong: gae\/returns-/,
      ),
    ]);
  });

  test('that another name is given is none of the op’s', async () => {
    const text = instead(
      GAE,
      'return advantages, returns',
      'return {"advantages": advantages, "deltas": returns}',
    );
    const { bound } = await found(instead(text, 'each + own', 'each - own'), 'gae');
    expect(bound.map(({ answers }) => answers)).toEqual([['advantages']]);
  });
});

describe('log-probabilities of a token by the logits at its own place', () => {
  const GATHERED = [
    'import math',
    '',
    '',
    'def token_logprobs(logits, labels):',
    '    def of(row, token):',
    '        top = max(row)',
    '        return row[token] - top - math.log(sum(math.exp(each - top) for each in row))',
    '    return [[of(row, token) for row, token in zip(*each)] for each in zip(logits, labels)]',
    '',
    '',
    'def step(model, batch):',
    '    logits, labels = model(batch), batch["labels"]',
    '    SHIFT',
    '    return token_logprobs(logits, labels)',
    '',
  ].join('\n');

  test('are right for who shifts, as is seen before the call', async () => {
    const shift = 'logits, labels = [row[:-1] for row in logits], [row[1:] for row in labels]';
    const { bound, open } = await found(instead(GATHERED, 'SHIFT', shift), 'logprobs');
    expect(open).toEqual([]);
    expect(bound.map(({ call }) => call)).toEqual([
      'trainer.token_logprobs([row[:-1] for row in logits], [row[1:] for row in input_ids])',
    ]);
  });

  test.each([
    { name: 'pass', why: /this call does not look so: token_logprobs\(logits, labels\)$/ },
    { name: '# nothing\n\n\n_ = """', why: /nothing in these files, or beside them, calls it/ },
  ])('are asked about where nobody does: $name', async ({ name, why }) => {
    const text = instead(GATHERED, 'SHIFT', name);
    const { bound, open } = await found(name.endsWith('"""') ? `${text}"""\n` : text, 'logprobs');
    expect(bound).toEqual([]);
    expect(open.map((each) => each.why)).toEqual([expect.stringMatching(why)]);
  });
});
