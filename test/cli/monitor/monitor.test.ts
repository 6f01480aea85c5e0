import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readEvents } from '../../../src/report/machine/ndjson.ts';
import { widthOf } from '../../../src/report/text/visible.ts';
import { jump, KL, lines, loggedWorld, RUN } from './logged.ts';

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
