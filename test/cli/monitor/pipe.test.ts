import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeWorld, type World } from '../world.ts';

const KL = ['--only', 'kl-spike,finite-training'];

/** Lines of steps [from, to]; from step 41 on the KL is another where `jumps`. */
function lines(from: number, to: number, { jumps = false, nan = false } = {}): string {
  return Array.from({ length: to - from + 1 }, (_, at) => {
    const step = from + at;
    const wave = Math.sin(step * 12.9898) * 0.01;
    const loss = nan && step > 40 ? Number.NaN : 0.5 + wave;
    return `{"step": ${step}, "loss": ${loss}, "kl": ${jumps && step > 40 ? 5 : 0.05 + wave}, "reward": ${0.4 + wave}}\n`;
  }).join('');
}

interface Piped {
  readonly world: World;
  readonly code: number;
  /** Of `--json`. */
  readonly said: readonly Record<string, unknown>[];
}

async function piped(pieces: Iterable<string | Buffer>, ...words: readonly string[]): Promise<Piped> {
  const world = makeWorld([]);
  const input = Readable.from(pieces, { objectMode: false });
  const code = await makeInput(world, input).run('monitor', '-', ...words);
  const said = words.includes('--json') ? jsonLines(world.out()) : [];
  return { world, code, said };
}

function makeInput(world: World, input: Readable): Pick<World, 'run'> {
  Object.assign(world.context, { input: () => input });
  return world;
}

function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('for a person', () => {
  test('a healthy log holds, and its end is the end', async () => {
    const { world, code } = await piped([lines(1, 80)], ...KL);
    expect(code, world.both()).toBe(0);
    expect(world.out()).toContain('following standard input');
    expect(world.out()).toMatch(/2 rules: 2 hold · .* · 240 points of 3 series\n$/);
  });

  test('a violation is told, and kept for `report`', async () => {
    const { world, code } = await piped([lines(1, 80, { jumps: true })], ...KL);
    expect(code).toBe(1);
    expect(world.out()).toMatch(/✗ monitor\/kl-spike {2}kl .*step 41/);
    expect(await world.run('report', '--markdown', '-')).toBe(0);
    expect(world.out()).toContain('monitor/kl-spike');
  });

  test('stands alone', async () => {
    for (const words of [
      ['-', 'runs'],
      ['-', '--rollouts', 'x'],
      ['runs', '--rollouts', '-'],
    ]) {
      const world = makeWorld([]);
      expect(await world.run('monitor', ...words)).toBe(2);
      expect(world.err()).toContain('standard input');
    }
  });
});

describe('for a program', () => {
  test('each line is one JSON object: it listens, what is wrong, the verdict', async () => {
    const { code, said } = await piped([lines(1, 80, { jumps: true })], ...KL, '--json');
    expect(code).toBe(1);
    expect(said.map(({ type }) => type)).toEqual(['begin', 'violation', 'verdict']);
    expect(said[1]).toMatchObject({
      id: 'monitor/kl-spike',
      level: 'should',
      sentence: expect.stringContaining('step 41'),
      advice: expect.stringContaining('checkpoint'),
      series: 'kl',
      step: 41,
      value: 5,
    });
    expect(said[2]).toEqual({
      type: 'verdict',
      exitCode: 1,
      sentence: '2 rules: 1 holds, 1 fails',
      failed: ['monitor/kl-spike'],
    });
  });

  test('a number that JSON does not have is a text', async () => {
    const { said } = await piped([lines(1, 60, { nan: true })], ...KL, '--json');
    expect(said[1]).toMatchObject({ id: 'monitor/finite-training', level: 'must', step: 41, value: 'NaN' });
  });

  test('a failure that is known is called so', async () => {
    const world = makeWorld([]);
    world.write('known.json', JSON.stringify({ 'monitor/kl-spike': { reason: 'a warm restart' } }));
    const input = Readable.from([lines(1, 80, { jumps: true })], { objectMode: false });
    const words = [...KL, '--json', '--known', 'known.json'];
    expect(await makeInput(world, input).run('monitor', '-', ...words)).toBe(0);
    expect(jsonLines(world.out())[1]).toMatchObject({ id: 'monitor/kl-spike', known: true });
  });

  test('of a finished log, too', async () => {
    const world = makeWorld([]);
    world.write('a.jsonl', `${lines(1, 80, { jumps: true })}no JSON\n`);
    expect(await world.run('monitor', 'a.jsonl', ...KL, '--json')).toBe(1);
    expect(jsonLines(world.out()).map(({ type }) => type)).toEqual([
      'begin',
      'complaint',
      'violation',
      'verdict',
    ]);
  });

  test('a first must ends it, but not with --keep-going', async () => {
    const pieces = [lines(1, 60, { nan: true }), lines(61, 80)];
    /** The second piece comes once the first has been judged. */
    async function* slowly(world: World): AsyncGenerator<string> {
      for (const piece of pieces) {
        yield piece;
        while (!world.out().includes('✗ monitor/finite-training')) await sleep(5);
      }
    }
    for (const [more, last] of [
      [[], 60],
      [['--keep-going'], 80],
    ] as const) {
      const world = makeWorld([]);
      const input = Readable.from(slowly(world), { objectMode: false });
      expect(await makeInput(world, input).run('monitor', '-', ...KL, ...more)).toBe(1);
      expect(world.out()).toContain(`steps 1 to ${last}`);
    }
  });
});

describe('what comes through the pipe', () => {
  test('may be cut anywhere', async () => {
    const text = Buffer.from(lines(1, 60, { jumps: true }));
    const bytes = Array.from({ length: text.length }, (_, at) => text.subarray(at, at + 1));
    const whole = await piped([text], ...KL, '--json');
    const cut = await piped(bytes, ...KL, '--json');
    expect(cut.said).toEqual(whole.said);
  });

  test('says what the run is set to', async () => {
    const declared = '{"declare": {"max_completion_length": 512, "model_config": {"vocab_size": 300}}}\n';
    const log = Array.from({ length: 40 }, (_, at) => `{"step": ${at}, "completions/mean_length": 512}\n`);
    const { world, code } = await piped([declared, ...log], '--only', 'length-stuck-at-limit');
    expect(code, world.both()).toBe(1);
    expect(world.out()).toContain('512');
  });

  test.each([
    ['nothing', ''],
    ['no JSON', 'Traceback (most recent call last):\n  oops\n'],
    ['a torn object', '{"step": 1, "lo'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x7b, 0x0a, 0x80])],
  ])('%s: no verdict', async (_, text) => {
    const { code, said } = await piped(text === '' ? [] : [text], '--json');
    expect(code).toBe(2);
    expect(said.at(-1)).toMatchObject({ type: 'verdict', exitCode: 2 });
  });

  test('no JSON between metrics is said once, and passed over', async () => {
    const { code, said } = await piped([`${lines(1, 30)}Epoch 2\n${lines(31, 60)}`], ...KL, '--json');
    expect(code).toBe(0);
    expect(said[1]).toEqual({
      type: 'complaint',
      sentence: 'standard input: Line 31 is no JSON object and no line of metrics; it is passed over.',
    });
  });

  test('breaks: what came is judged, and it is said', async () => {
    const world = makeWorld([]);
    async function* breaking(): AsyncGenerator<string> {
      yield lines(1, 60, { jumps: true });
      while (!world.out().includes('✗ monitor/kl-spike')) await sleep(5);
      throw new Error('EIO: the disk is gone');
    }
    const input = Readable.from(breaking(), { objectMode: false });
    expect(await makeInput(world, input).run('monitor', '-', ...KL)).toBe(1);
    expect(world.out()).toContain('! standard input: It cannot be read: EIO: the disk is gone.');
  });
});

// --- helpers ---
