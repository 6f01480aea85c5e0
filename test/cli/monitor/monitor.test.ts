// `monitor` as it is typed: real files in a folder with a space and letters outside ASCII, whole screens, exit codes, and
// jobs that write while they are followed.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { widthOf } from '../../../src/report/text/visible.ts';
import { makeWorld, type World, type WorldOptions } from '../world.ts';

const RUN = 'läuft 1';
const KL = ['--only', 'kl-spike,finite-training'];

/** Lines of a healthy run, one a step; `change` makes one of them ill. */
function lines(from: number, to: number, change: (step: number) => object = () => ({})): string {
  const rows = Array.from({ length: to - from + 1 }, (_, at) => {
    const step = from + at;
    const wave = Math.sin(step * 12.9898) * 0.01;
    return {
      step,
      loss: 0.5 + 20 * wave,
      kl: 0.05 + wave,
      reward: 0.4 + wave * step,
      grad_norm: 1 + wave,
      'my/number': step,
      ...change(step),
    };
  });
  return rows
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
    .replaceAll('"NaN"', 'NaN');
}

const jump = (step: number): object => (step > 40 ? { kl: 5 } : {});
const broken = (step: number): object => (step > 40 ? { loss: 'NaN' } : {});

function loggedWorld(text: string, options: WorldOptions = {}): World & { readonly file: string } {
  const world = makeWorld([], options);
  mkdirSync(join(world.folder, RUN));
  const file = join(world.folder, RUN, 'metrics.jsonl');
  if (text !== '') writeFileSync(file, text);
  return { ...world, file };
}

describe('once', () => {
  test('a healthy run holds: its series are shown, with role and last value', async () => {
    const world = loggedWorld(lines(1, 80));
    expect(await world.run('monitor', RUN, ...KL), world.both()).toBe(0);
    expect(world.out()).toContain('seen: 1 file · 400 points of 5 series');
    expect(world.out()).toMatch(/ {4}kl +[▁▂▃▄▅▆▇█]{30} +0\.0\d+ {2}step 80\n/);
    expect(world.out()).toContain('1 without a role');
    expect(world.out()).toMatch(/2 rules: 2 hold · .* · 400 points of 5 series\n$/);
  });

  test('a run whose KL jumps fails, with series, step, value and the line', async () => {
    const world = loggedWorld(lines(1, 80, jump));
    expect(await world.run('monitor', RUN, ...KL)).toBe(1);
    expect(world.out()).toContain('  ✗ kl');
    expect(world.out()).toMatch(/✗ monitor\/kl-spike {2}should · judged \d+ times\n {2}kl .*step 41/);
    expect(world.out()).toMatch(/▲ step 41: 5\n/);
    expect(world.out()).toContain('What to do: ');
    expect(world.out()).toContain(`npx lossproof monitor '${RUN}' --only kl-spike,finite-training`);
  });

  test('a learning rate alone is no verdict, and it is said what to name', async () => {
    const rates = Array.from({ length: 60 }, (_, at) =>
      JSON.stringify({ step: at + 1, lr: 1e-4 * (1 - at / 60), objective: 2 - at / 60 }),
    );
    const world = loggedWorld(`${rates.join('\n')}\n`);
    expect(await world.run('monitor', RUN), world.out()).toBe(2);
    expect(world.out().replace(/\s+/g, ' ')).toContain(
      'No verdict: neither a loss nor a reward was judged, so that nothing tells whether the run learns. --series NAME=loss (or =reward) names one, of objective',
    );
    expect(await world.run('monitor', RUN, '--series', 'objective=loss'), world.out()).toBe(0);
    expect(world.out()).toContain('objective 2 at the start, best 1.02 at step 60, now 1.02');
    expect(await world.run('monitor', RUN, '--only', 'learning-rate-*')).toBe(0);
  });

  test('a second run in the same file is judged apart, and said so on the terminal and on the page', async () => {
    const rows = (): string =>
      Array.from({ length: 60 }, (_, at) =>
        JSON.stringify({
          step: at + 1,
          loss: 1 + 3 * Math.exp(-at / 10) + 0.01 * Math.sin(at),
          lr: 1e-4 * (1 - at / 60),
        }),
      ).join('\n');
    const world = loggedWorld(`${rows()}\n${rows()}\n`);
    expect(await world.run('monitor', RUN, '--html', 'r.html'), world.out()).toBe(0);
    expect(world.out().replace(/\s+/g, ' ')).toContain(
      'a second run is logged in the same place. It is judged apart, as läuft 1/metrics.jsonl (start 2)',
    );
    const page = readFileSync(join(world.folder, 'r.html'), 'utf8');
    expect(page).toContain('Odd in these logs.');
    expect(page).toMatch(/\d+ of \d+ rules judged\./);
    expect(page).toContain('at the start, best');
  });

  test('rules whose series are not there are unsupported, and alone they are no verdict', async () => {
    const world = loggedWorld(lines(1, 40));
    expect(await world.run('monitor', RUN, '--only', 'sampling-gap')).toBe(2);
    expect(world.out()).toContain(
      '0 of 1 rule judged. Not judged:\n  1  monitor/sampling-gap: nothing logged of sampling_gap',
    );
    expect(world.out()).toContain('No verdict: none of 1 rule could judge what was read.');
  });

  test('the same rule in two runs names both', async () => {
    const world = loggedWorld(lines(1, 80, jump));
    mkdirSync(join(world.folder, 'other'));
    world.write(
      'other/a.jsonl',
      lines(1, 80, (step) => (step > 60 ? { kl: 9 } : {})),
    );
    world.write('other/b.jsonl', lines(1, 80));
    expect(await world.run('monitor', '.', '--only', 'kl-spike')).toBe(1);
    expect(world.out()).toContain('2 of 3 runs break this rule.');
    expect(world.out()).toContain(`In ${RUN}/metrics.jsonl: `);
    expect(world.out()).toContain('In other/a.jsonl: ');
  });

  test('a known failure does not fail, and one that is gone does', async () => {
    const world = loggedWorld(lines(1, 80, jump));
    world.write('known.json', JSON.stringify({ 'monitor/kl-spike': { reason: 'a warm restart' } }));
    expect(await world.run('monitor', RUN, ...KL, '--known', 'known.json')).toBe(0);
    expect(world.out()).toContain('a warm restart');
    writeFileSync(world.file, lines(1, 80));
    expect(await world.run('monitor', RUN, ...KL, '--known', 'known.json')).toBe(1);
  });

  test('a setting, a role and a preset are taken; the role of a series that is not there is said', async () => {
    const world = loggedWorld(lines(1, 80, jump).replaceAll('"kl"', '"mine"'));
    expect(await world.run('monitor', RUN, ...KL, '--quiet')).toBe(0);
    expect(await world.run('monitor', RUN, ...KL, '--series', 'mine=kl')).toBe(1);
    expect(await world.run('monitor', RUN, ...KL, '--series', 'mine=kl', '--set', 'kl-spike.floor=50')).toBe(
      0,
    );
    expect(await world.run('monitor', RUN, '--preset', 'grpo', '--series', 'yours=kl')).toBe(0);
    const short = [RUN, '--only', 'length-stuck-at-limit', '--series', 'my/number=completion_length'];
    expect(await world.run('monitor', ...short)).toBe(2);
    expect(await world.run('monitor', ...short, '--fact', 'max_completion_length=512'), world.out()).toBe(0);
    expect(world.out()).toContain('! --series yours: no series is called so');
  });

  test('is set by the configuration, and what is typed wins', async () => {
    const world = loggedWorld(lines(1, 80, jump));
    const monitor = { paths: RUN, only: ['kl-spike'], set: { 'kl-spike.floor': 50 } };
    world.write('lossproof.config.json', JSON.stringify({ monitor }));
    expect(await world.run('monitor'), world.both()).toBe(0);
    expect(await world.run('monitor', '--set', 'kl-spike.floor=1')).toBe(1);
    world.write('lossproof.config.json', JSON.stringify({ monitor: { ...monitor, presett: 'x' } }));
    expect(await world.run('monitor')).toBe(2);
    expect(world.err()).toContain('unknown key "monitor.presett", did you mean "monitor.preset"?');
  });

  test('outputs are written, and `report` shows the run again', async () => {
    const world = loggedWorld(lines(1, 80, jump));
    const typed = ['html', 'junit', 'sarif', 'markdown', 'badge', 'events'].flatMap((name) => [
      `--${name}`,
      `r.${name}`,
    ]);
    expect(await world.run('monitor', RUN, ...KL, ...typed)).toBe(1);
    const read = (name: string): string => readFileSync(join(world.folder, `r.${name}`), 'utf8');
    expect(read('html')).toContain('class="violation"');
    expect(read('html')).toContain('What was logged');
    for (const name of ['junit', 'sarif', 'markdown']) expect(read(name)).toContain('monitor/kl-spike');
    expect(readEvents(read('events')).problems).toEqual([]);
    expect(await world.run('report', '--html', 'again.html')).toBe(0);
    expect(readFileSync(join(world.folder, 'again.html'), 'utf8')).toContain('class="violation"');
  });

  test.each([
    [['nowhere'], 'nowhere does not exist'],
    [[], 'name what is to be read'],
    [[RUN, '--set', 'kl-spike'], 'should be RULE.SETTING=VALUE'],
    [[RUN, '--set', 'kl-spike.window=many'], 'is a number, and "many" is none'],
    [[RUN, '--set', 'kl-spike.widow=3'], 'did you mean "window"?'],
    [[RUN, '--set', 'kl-spyke.window=3'], 'did you mean "monitor/kl-spike"?'],
    [[RUN, '--series', 'kl=kll'], 'did you mean "kl"?'],
    [[RUN, '--preset', 'grpoo'], 'did you mean "grpo"?'],
    [[RUN, '--only', 'kl-spyke'], 'no rule is called'],
    [[RUN, '--idle', '3'], '--idle is for --follow'],
    [[RUN, '--known', 'none.json'], 'none.json'],
    [[RUN, '--html', '-'], 'standard output'],
  ])('%j is refused in one line', async (argv, said) => {
    const world = loggedWorld(lines(1, 3));
    expect(await world.run('monitor', ...argv)).toBe(2);
    expect(world.err()).toContain(said);
    expect(world.err().trimEnd().split('\n')).toHaveLength(1);
  });

  test('an empty folder, and a log without a point, are no verdict', async () => {
    const world = loggedWorld('');
    expect(await world.run('monitor', RUN)).toBe(2);
    writeFileSync(world.file, '{"step": 1, "note": "begun"}\n');
    expect(await world.run('monitor', RUN)).toBe(2);
  });

  test('is as narrow as a narrow terminal, in colour and without', async () => {
    for (const env of [{ NO_COLOR: '1' }, {}]) {
      const world = loggedWorld(lines(1, 80, jump), { isTty: true, columns: 44, env });
      await world.run('monitor', RUN, ...KL);
      expect(world.out().includes('\u001b[3')).toBe(!('NO_COLOR' in env));
      const shown = world
        .out()
        .split('\n')
        .filter((line) => !line.includes('npx '));
      for (const line of shown) expect(widthOf(line), line).toBeLessThanOrEqual(44);
    }
  });

  test('draws with ASCII where the terminal has nothing else', async () => {
    const world = loggedWorld(lines(1, 80, jump), { env: { LC_ALL: 'C' } });
    await world.run('monitor', RUN, ...KL);
    expect(world.out()).not.toMatch(/[▁▂▃▄▅▆▇█▲]/);
    expect(world.out()).toMatch(/\^ step 41: 5/);
  });

  test('says on a terminal how far it has read', async () => {
    const world = loggedWorld(lines(1, 60_000), { isTty: true });
    await world.run('monitor', RUN, ...KL);
    expect(world.err()).toMatch(/reading \d+ % of \d+ MB/);
    expect(world.err().endsWith('\r\u001b[K')).toBe(true);
  });

  test('Ctrl-C while it reads judges what was read, and exits 130', async () => {
    let stop: (() => void) | undefined;
    const world = loggedWorld(lines(1, 120_000, jump), {
      isTty: true,
      onWrite: (both, { interrupt }) => {
        if (both.includes('reading') && stop === undefined) {
          stop = interrupt;
          interrupt();
        }
      },
    });
    expect(await world.run('monitor', RUN, ...KL)).toBe(130);
    expect(world.out()).toContain('interrupted · ');
    expect(world.exits).toEqual([]);
  });
});

describe('following', () => {
  const FOLLOW = ['--follow', '--interval', '0.05'];

  test('reads what is written meanwhile, by a process that writes slowly and in pieces', async () => {
    const world = loggedWorld('');
    const text = lines(1, 80, jump);
    world.write('writer.mjs', SLOW_WRITER);
    const writer = spawn(process.execPath, [join(world.folder, 'writer.mjs'), world.file], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    writer.stdin.end(text);
    writer.on('close', () => void world.listening().then(world.terminate));
    expect(await world.run('monitor', RUN, ...FOLLOW, ...KL), world.both()).toBe(1);
    expect(world.out()).toContain(`+ ${RUN}/metrics.jsonl (JSON lines)`);
    expect(world.out()).toContain('seen: 1 file · 400 points');
    expect(world.out()).not.toContain('! ');
    expect(world.out().split('✗ monitor/kl-spike')).toHaveLength(3);
  });

  test('a writer that is killed in the middle of a line: the rest is judged', async () => {
    const world = loggedWorld('');
    world.write(
      'writer.mjs',
      `import { appendFileSync } from 'node:fs';
let text = ''; process.stdin.on('data', (c) => { text += c; }).on('end', () => { appendFileSync(process.argv[2], text.slice(0, -20)); process.kill(process.pid, 'SIGKILL'); });`,
    );
    const writer = spawn(process.execPath, [join(world.folder, 'writer.mjs'), world.file], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    writer.stdin.end(lines(1, 60));
    writer.on('close', () => void world.listening().then(world.terminate));
    expect(await world.run('monitor', RUN, ...FOLLOW, ...KL)).toBe(0);
    expect(world.out()).toContain('steps 1 to 59');
  });

  test('ends with 1 at the first rule of level must that fails, so that a launcher can stop the job', async () => {
    const world = loggedWorld(lines(1, 40));
    setTimeout(() => appendFileSync(world.file, lines(41, 60, broken)), 300);
    expect(await world.run('monitor', RUN, ...FOLLOW, ...KL)).toBe(1);
    expect(world.out()).toMatch(/✗ monitor\/finite-training {2}.*step 41/);
  });

  test('goes on with --keep-going, and with a failure that is known', async () => {
    const world = loggedWorld(lines(1, 60, broken));
    expect(await world.run('monitor', RUN, ...FOLLOW, ...KL, '--keep-going', '--idle', '0.5')).toBe(1);
    world.write('known.json', JSON.stringify({ 'monitor/finite-training': { reason: 'a test' } }));
    expect(await world.run('monitor', RUN, ...FOLLOW, ...KL, '--known', 'known.json', '--idle', '0.5')).toBe(
      0,
    );
  });

  test('waits for a path that is not there yet', async () => {
    const world = loggedWorld('');
    setTimeout(() => {
      mkdirSync(join(world.folder, 'later'));
      world.write('later/x.jsonl', lines(1, 60));
    }, 300);
    expect(await world.run('monitor', 'later', ...FOLLOW, ...KL, '--idle', '2'), world.both()).toBe(0);
  });

  test('Ctrl-C ends it with the summary and 130; a second one leaves at once', async () => {
    let pressed = false;
    const world = loggedWorld(lines(1, 60), {
      isTty: true,
      env: { NO_COLOR: '1' },
      onWrite: (both, { interrupt }) => {
        if (pressed || !both.includes('last point')) return;
        pressed = true;
        interrupt();
      },
    });
    expect(await world.run('monitor', RUN, ...FOLLOW, ...KL)).toBe(130);
    expect(world.out()).toMatch(/interrupted · 2 rules: 2 hold/);
  });

  test('a SIGTERM is the end of the job: what is written is read, and the verdict is the exit code', async () => {
    const world = loggedWorld(lines(1, 40));
    const ended = world.run('monitor', RUN, '--follow', '--interval', '30', ...KL);
    await world.listening();
    appendFileSync(world.file, lines(41, 60, jump));
    world.terminate();
    expect(await ended).toBe(1);
    expect(world.out()).toContain('steps 1 to 60');
  });

  test('a SIGTERM in the middle of a look: what was written behind it is read as well', async () => {
    let ended = false;
    const world = loggedWorld(lines(1, 40), {
      onWrite: (both, { terminate }) => {
        if (ended || !both.includes('metrics.jsonl (JSON lines)')) return;
        ended = true;
        appendFileSync(world.file, lines(41, 60, jump));
        terminate();
      },
    });
    expect(await world.run('monitor', RUN, '--follow', '--interval', '30', ...KL)).toBe(1);
    expect(world.out()).toContain('steps 1 to 60');
  });

  test('draws a block on a terminal, and leaves nothing of it behind', async () => {
    const world = loggedWorld(lines(1, 60), { isTty: true, columns: 70, env: { NO_COLOR: '1' } });
    await world.run('monitor', RUN, ...FOLLOW, ...KL, '--idle', '0.4');
    const { screen, states } = played(world.out());
    const state = states.find((each) => each.includes('last point'));
    expect(state).toMatch(/300 points of 5 series · last point just now/);
    expect(state).toContain('✓ 2 hold');
    expect(screen).not.toContain('last point');
    for (const each of states)
      for (const line of each.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(70);
  });

  test('has no block in CI, where only news is said', async () => {
    const world = loggedWorld(lines(1, 60), { isTty: true, env: { CI: 'true', NO_COLOR: '1' } });
    await world.run('monitor', RUN, ...FOLLOW, ...KL, '--idle', '0.4');
    expect(world.out()).not.toContain('\u001b');
    expect(world.out()).not.toContain('last point');
  });

  test('writes the page at each new violation, and again at its end', async () => {
    const world = loggedWorld(lines(1, 60, jump));
    const page = join(world.folder, 'r.html');
    const going = world.run('monitor', RUN, ...FOLLOW, ...KL, '--html', 'r.html', '--idle', '2');
    while (!existsSync(page)) await sleep(20);
    expect(readFileSync(page, 'utf8')).toContain('Not finished.');
    expect(await going).toBe(1);
    expect(readFileSync(page, 'utf8')).not.toContain('Not finished.');
  });
});

describe('the executable', () => {
  test.each([
    ['SIGTERM', 1],
    ['SIGINT', 130],
  ] as const)('ends at a %s with a summary and code %i', async (signal, code) => {
    const world = loggedWorld(lines(1, 80, jump));
    const argv = ['--import', LOADER, MAIN, 'monitor', RUN, '--follow', ...KL];
    const child = spawn(process.execPath, argv, {
      cwd: world.folder,
      env: { ...process.env, NO_COLOR: '1' },
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      // The violation has been told: it has read, and sleeps.
      if (text.includes('✗ monitor/kl-spike') && !child.killed) child.kill(signal);
    });
    const ended = await new Promise<number | null>((done) => void child.on('close', done));
    expect(ended, text).toBe(code);
    expect(text).toMatch(/2 rules: 1 holds, 1 fails/);
  });
});

test('`list` has the rules, with their settings and presets, and `explain` their pages', async () => {
  const world = loggedWorld('');
  expect(await world.run('list', '--only', 'monitor/kl-spike', '--full')).toBe(0);
  expect(world.out()).toMatch(/monitor\/kl-spike +should +monitor/);
  expect(world.out()).toContain('window=64');
  const [, presets = ''] = world.out().split('Presets, for `monitor --preset`:');
  for (const name of ['grpo', 'tools', 'zero-loss']) expect(presets).toContain(`\n${name}\n`);
  // A stranger has none of the papers that the checklists stood in.
  expect(presets).not.toMatch(/document|\b\d{3}\b/);
  expect(await world.run('explain', 'monitor/kl-spike')).toBe(0);
  expect(world.out()).toContain('What to do');
});

// --- helpers ---

const LOADER = resolve('node_modules/jiti/lib/jiti-register.mjs');
const MAIN = resolve('src/cli/main.ts');

/** Writes what it is given, a third of a line at a time. */
const SLOW_WRITER = `import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
let text = '';
for await (const chunk of process.stdin) text += chunk;
for (let at = 0; at < text.length; at += 600) { appendFileSync(process.argv[2], text.slice(at, at + 600)); await sleep(40); }
`;

const ESCAPE = '\u001b';
/** The cursor goes up so many lines, and what is below it is erased. */
const ERASED = new RegExp(`(${ESCAPE}\\[\\d+A\\r${ESCAPE}\\[J)`);

/** What a terminal shows at last, and each state of the block before it was erased. */
function played(written: string): { readonly screen: string; readonly states: readonly string[] } {
  let rows: string[] = [''];
  const states: string[] = [];
  for (const part of written.split(ERASED)) {
    const up = /^.\[(\d+)A/.exec(part.startsWith(ESCAPE) ? part : '');
    if (up === null) {
      const [first = '', ...rest] = part.split('\n');
      rows = [...rows.slice(0, -1), (rows.at(-1) ?? '') + first, ...rest];
      continue;
    }
    states.push(rows.slice(-1 - Number(up[1])).join('\n'));
    rows = [...rows.slice(0, -1 - Number(up[1])), ''];
  }
  return { screen: rows.join('\n'), states };
}
