// `monitor --follow`: jobs that write while they are followed, and the signals that end it.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { widthOf } from '../../../src/report/text/visible.ts';
import { jump, KL, lines, loggedWorld, RUN } from './logged.ts';

const broken = (step: number): object => (step > 40 ? { loss: 'NaN' } : {});

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
