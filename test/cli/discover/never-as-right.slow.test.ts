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

/** What is written for it, where it is bound. */
async function adapterOf(text: string, op: string, world: World = makeWorld(properties)): Promise<string> {
  world.write('trainer.py', text);
  const words = ['trainer.py', '--python', 'python3', '--only', op, '--write', 'adapter.py'];
  expect(await world.run('discover', ...words)).toBe(0);
  return readFileSync(join(world.folder, 'adapter.py'), 'utf8');
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

describe('a number that the op is sent', () => {
  const LOGP = [
    'import math',
    'from dataclasses import dataclass',
    '',
    '',
    'def logp(row, token):',
    '    top = max(row)',
    '    return row[token] - top - math.log(sum(math.exp(each - top) for each in row))',
    '',
    '',
  ].join('\n');
  const SCORED =
    'return [[logp([each / TEMPERATURE for each in row], token) for row, token in zip(rows[:-1], ids[1:])] for rows, ids in zip(logits, input_ids)]';
  const scored = (temperature: string): string => SCORED.replace('TEMPERATURE', temperature);
  const OF_ARGS = `${LOGP}class Trainer:\n    def __init__(self, args, model):\n        self.args = args\n\n    def token_logprobs(self, logits, input_ids):\n        ${scored('self.args.temperature')}\n`;
  const BY_DEFAULT = `${LOGP}def token_logprobs(logits, input_ids, temperature=1.0):\n    ${scored('temperature')}\n`;

  test.each([
    {
      where: 'a configuration',
      text: OF_ARGS,
      call: 'instance(trainer.Trainer, args=Settings(temperature=temperature))',
    },
    { where: 'a default', text: BY_DEFAULT, call: 'token_logprobs(logits, input_ids, temperature)' },
  ])('stands in the place of $where, so that a factor is no divisor', async ({ text, call }) => {
    const { bound } = await found(text, 'logprobs');
    expect(bound.map((each) => each.call)).toEqual([expect.stringContaining(call)]);
    expect(await brokenIn(instead(text, 'each / ', 'each * '), 'logprobs')).toContain(
      'logprobs/divide-by-the-temperature',
    );
  });

  test('that the op is not sent is 2, and logits are handed over times 2', async () => {
    const text = `${LOGP}def token_entropy(logits, temperature):\n    return [[-sum(math.exp(logp([each / temperature for each in row], at)) * logp([each / temperature for each in row], at) for at in range(len(row))) for row in rows] for rows in logits]\n`;
    const { bound } = await found(text, 'entropy');
    expect(bound.map(({ call }) => call)).toEqual([expect.stringMatching(/2\.0 \* each .*, 2\.0\)$/)]);
    expect(await brokenIn(text.replaceAll('each / temperature', 'each * temperature'), 'entropy')).toEqual([
      'entropy/equals-the-definition',
    ]);
  });

  const GAE = [
    'def _gae(rewards, values, mask, gamma, lam):',
    '    advantages = []',
    '    for reward, value, trained in zip(rewards, values, mask):',
    '        row, running, after = [0.0] * len(reward), 0.0, 0.0',
    '        for t in reversed([at for at, on in enumerate(trained) if on]):',
    '            running = reward[t] + gamma * after - value[t] + gamma * lam * running',
    '            row[t], after = running, value[t]',
    '        advantages.append(row)',
    '    return advantages',
    '',
    '',
    '@dataclass',
    'class PPOConfig:',
    '    gamma: float = 0.99',
    '    lam: float = 0.95',
    '',
    '',
    '',
  ].join('\n');
  test.each([
    {
      how: 'read of self',
      code: 'class T:\n    def gae(self, rewards, values, mask):\n        return _gae(rewards, values, mask, self.gamma, self.gae_lambda)\n',
      call: 'instance(trainer.T, gamma=gamma, gae_lambda=lam)',
    },
    {
      how: 'of a configuration with defaults',
      code: 'def gae(rewards, values, mask, config: PPOConfig):\n    return _gae(rewards, values, mask, config.gamma, config.lam)\n',
      call: 'instance(trainer.PPOConfig, gamma=gamma, lam=lam)',
    },
    {
      how: 'of a constructor with defaults',
      code: 'class Gae:\n    def __init__(self, gamma=0.99, lam=0.95):\n        self.gamma, self.lam = gamma, lam\n\n    def __call__(self, rewards, values, mask):\n        return _gae(rewards, values, mask, self.gamma, self.lam)\n',
      call: 'trainer.Gae(gamma=gamma, lam=lam)(',
    },
  ])('accuses nobody who is right: $how', async ({ code, call }) => {
    const world = makeWorld(properties);
    const text = `${LOGP}${GAE}${code}`;
    const { bound, misfits } = await found(text, 'gae', world);
    expect(misfits).toEqual([]);
    expect(bound.map((each) => each.call)).toContainEqual(expect.stringContaining(call));
    const core = text.replace('def _gae', 'def _core').replace('_gae(', '_core(');
    expect(await adapterOf(core, 'gae', world)).toContain(
      'def gae(rewards, values, completion_mask, gamma, lam):',
    );
  });

  test('is a parameter of the adapter where it is read, and not where an argument is called so', async () => {
    const text =
      'import math\n\n\nclass T:\n    def kl_k3(self, logprobs, ref_logprobs):\n        assert self.old_logprobs is None\n        return [[math.expm1(r - p) - (r - p) for p, r in zip(*rows)] for rows in zip(logprobs, ref_logprobs)]\n';
    expect(await adapterOf(text, 'kl')).toContain('def kl(logprobs, ref_logprobs):');
  });
});

test('what is off by default is tried as well: the smoothing of a label', async () => {
  const dpo = (second: string): string =>
    `import math\n\n\ndef dpo_loss(chosen, rejected, ref_chosen, ref_rejected, beta=0.1, label_smoothing=0.0):\n    def lost(x):\n        return max(-x, 0.0) + math.log1p(math.exp(-abs(x)))\n    margin = beta * (chosen - rejected - ref_chosen + ref_rejected)\n    return lost(margin) * (1 - label_smoothing) + lost(${second}) * label_smoothing\n`;
  const world = makeWorld(properties);
  const words = ['trainer.py', '--python', 'python3', '--only', 'preference_loss'];
  world.write('trainer.py', dpo('-margin'));
  expect(await world.run('discover', ...words)).toBe(0);
  expect(world.out()).toMatch(/also label_smoothing=0\.1 dpo, beta 0\.1, label smoothing 0\.1/);
  world.write('trainer.py', dpo('2 * margin'));
  expect(await world.run('discover', ...words)).toBe(1);
  expect(world.out()).toContain('✗ with label_smoothing=0.1 it does not hold');
});

describe('what `check` asks at level should', () => {
  const OVERLONG =
    'def overlong_penalty(length, max_length, buffer):\n    over = length - (max_length - buffer)\n    return 0.0 if over <= 0 else -min(1.0, over / max(1, buffer))\n';

  test.each([
    {
      op: 'overlong_penalty',
      text: OVERLONG,
      right: 'over / max(1, buffer)',
      wrong: '3.0 * (over / max(1, buffer)) ** 2',
      property: 'reward/overlong-grows-evenly-over-the-buffer',
    },
    {
      op: 'pack',
      text: PLAIN,
      right: 'at["position_ids"] += list(range(len(row)))',
      wrong: 'at["position_ids"] = list(range(len(at["input_ids"])))',
      property: 'pack/positions-restart',
    },
    {
      op: 'token_rewards',
      text: PLAIN,
      right: 'row = [-kl_coef * each * on for each, on in zip(own, trained)]',
      wrong:
        'on = [at for at, each in enumerate(trained) if each]\n        row = [-kl_coef * own[on[on.index(at) - 1]] if each else 0.0 for at, each in enumerate(trained)]',
      property: 'token_rewards/kl-stays-at-its-token',
    },
  ])('and has a published formula is no binding: $op', async ({ op, text, right, wrong, property }) => {
    const world = makeWorld(properties);
    const words = ['trainer.py', '--python', 'python3', '--only', op, '--write', 'adapter.py'];
    world.write('trainer.py', instead(text, right, wrong));
    expect(await world.run('discover', ...words)).toBe(1);
    expect(world.out()).toContain('Nearly:');
    expect(world.out().replaceAll(/\s+/g, ' ')).toContain(property);
    const adapter = readFileSync(join(world.folder, 'adapter.py'), 'utf8');
    expect(adapter).toContain('; it does not hold: ');
    expect(adapter).toContain('# `check --level should` shows it.');
    world.write('trainer.py', text);
    expect(await world.run('discover', ...words, '--force')).toBe(0);
  });

  test('and has none is said, in the adapter as well', async () => {
    const world = makeWorld(properties);
    const text =
      'def truncate(input_ids, labels, max_length):\n    return [r[:max_length] for r in input_ids], [r[:max_length] for r in labels]\n';
    expect(await adapterOf(text, 'truncate', world)).toContain('# At level should it does not hold: ');
    expect(world.out()).toContain('at level should: truncate/no-row-without-labels: ');
  });
});

describe('what a call for one pair, or one group, returns beside its number', () => {
  test('is read off by its name, and judged', async () => {
    const { bound, uncalled } = await found(PLAIN, 'preference_loss');
    expect(bound.map(({ answers }) => answers)).toEqual([['loss', 'chosen_rewards', 'rejected_rewards']]);
    expect(uncalled.map((each) => each.function)).not.toContain('dpo_loss');
    const sign = instead(
      PLAIN,
      'return loss, chosen_reward, rejected_reward',
      'rejected_reward = -rejected_reward\n    return loss, chosen_reward, rejected_reward',
    );
    expect(await brokenIn(sign, 'preference_loss')).not.toEqual([]);
  });

  const GROUP =
    'def group_advantages(rewards):\n    mean = sum(rewards) / len(rewards)\n    spread = (sum((each - mean) ** 2 for each in rewards) / (len(rewards) - 1)) ** 0.5\n    RETURN\n';
  test('is left alone where it is none of the op', async () => {
    const advantages = '[(each - mean) / (spread + 1e-4) for each in rewards]';
    const { bound } = await found(
      GROUP.replace('RETURN', `return ${advantages}, mean, spread`),
      'advantages',
    );
    expect(bound.map(({ answers }) => answers)).toEqual([['advantages']]);
  });

  test('is said where there is no answer in it, and no sum of ours', async () => {
    const text = instead(PLAIN, 'return loss, chosen_reward, rejected_reward', 'return str(loss), None');
    const { uncalled } = await found(text, 'preference_loss');
    const why = uncalled.find((each) => each.function === 'dpo_loss')?.why;
    expect(why).toBe("what it returns is none of the op's answers: tuple");
  });

  test('is said to be not looked at where it has no name', async () => {
    const world = makeWorld(properties);
    world.write(
      'trainer.py',
      instead(PLAIN, 'return loss, chosen_reward, rejected_reward', 'return loss, chosen_reward * 1.0'),
    );
    const words = ['trainer.py', '--python', 'python3', '--only', 'preference_loss', '--write', 'adapter.py'];
    expect(await world.run('discover', ...words)).toBe(0);
    expect(world.out()).toContain('not looked at: [1] of what it returns');
    expect(readFileSync(join(world.folder, 'adapter.py'), 'utf8')).toContain(
      '# Not looked at: [1] of what it returns.',
    );
  });
});
