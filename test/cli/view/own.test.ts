// `view --config` with the trainer that is installed: its rows win, its absence and its failures are said, and the rules go on.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { PYTHON_FOLDER } from '../../../src/version.ts';
import type { World } from '../world.ts';
import { fake, projectOf } from './own.ts';

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

async function seen(world: World, python: string, ...options: readonly string[]) {
  const code = await world.run('view', '--config', 'train.yaml', '--python', python, ...options);
  return { code, text: flat(world.both()) };
}

/** The rows of the rules: ChatML of a system text, a question and an answer, all of it trained. */
async function rulesOf(world: World): Promise<readonly (readonly number[])[]> {
  const code = await world.run('view', '--config', 'train.yaml', '--by-rules', '--json');
  expect(code).toBe(0);
  const { tokenizer } = await import('../../../src/tokenizers/load.ts').then(({ loadTokenizer }) => {
    const loaded = loadTokenizer(join(world.folder, 'model'));
    if ('problem' in loaded) throw new Error(loaded.problem);
    return loaded;
  });
  const { shown } = JSON.parse(world.out()) as { shown: { parts: { text: string }[] }[] };
  return shown.map(({ parts }) =>
    tokenizer.encode(
      parts
        .map(({ text }) => text)
        .join('')
        .replaceAll('␠', ' ')
        .replaceAll('⏎', '\n'),
    ),
  );
}

const rowsAs = (ids: readonly (readonly number[])[], labels: string): string[] => [
  `ids = json.loads(${JSON.stringify(JSON.stringify(ids))})`,
  `for row, own in zip(rows, ids): say(number=row["number"], ids=own, labels=${labels})`,
];

describe('rows of the installed trainer', () => {
  test('that are those of the rules: nothing but the sentence changes', async () => {
    const ids = await rulesOf(projectOf());
    const world = projectOf();
    const { code, text } = await seen(world, fake(world, ...rowsAs(ids, 'own'), 'end()'));
    expect(text).toContain(`rows by TRL 9.9 itself (${join(world.folder, 'fake')})`);
    expect(text).not.toContain('otherwise');
    expect(text).toContain('None of 2 rows is flagged');
    expect(code).toBe(0);
  });

  test('of which other tokens are trained: they are shown and judged, and the misread key is named', async () => {
    const ids = await rulesOf(projectOf());
    const world = projectOf();
    const labels = '[-100] * (len(own) - 3) + own[-3:]';
    const python = fake(world, ...rowsAs(ids, labels), 'end(completion_only_loss=True, max_length=64)');
    const { code, text } = await seen(world, python);
    expect(text).toContain(
      '· completion_only_loss (line 3): TRL 9.9 makes 2 of 2 rows otherwise than the documented rules of 1.13.0, and its own are shown. The first is row 1: other tokens of it are trained. completion_only_loss is true for the trainer, and null for the rules.',
    );
    expect(text).toContain('assistant <|im_start|>assistant⏎Hello␠there⟦!<|im_end|>⏎⟧');
    expect(code).toBe(0);
    const again = projectOf();
    fake(again, ...rowsAs(ids, labels), 'end()');
    expect((await seen(again, './fake', '--strict')).code).toBe(1);
  });

  test('that are cut, and of which nothing is trained: keys of the file that cut are named', async () => {
    const ids = await rulesOf(projectOf());
    const world = projectOf();
    const python = fake(
      world,
      ...rowsAs(
        ids.map((own) => own.slice(0, 9)),
        '[-100] * 9',
      ),
      'end()',
    );
    const { code, text } = await seen(world, python);
    expect(text).toContain('· max_length (line 4): TRL 9.9 makes 2 of 2 rows otherwise');
    expect(text).toContain('The first is row 1: it is cut elsewhere.');
    expect(text).toContain("✗ nothing-trained: None of the row's 9 tokens is trained.");
    expect(code).toBe(1);
  });

  test('with other tokens, of which none is known to the rules', async () => {
    const world = projectOf();
    const { code, text } = await seen(
      world,
      fake(
        world,
        ...rowsAs(
          [
            [5, 6],
            [7, 8],
          ],
          'own',
        ),
        'end()',
      ),
    );
    expect(text).toContain('· model_name_or_path (line 1): TRL 9.9 makes 2 of 2 rows otherwise');
    expect(text).toContain('it has other tokens');
    expect(text).toContain('2 rows · 4 tokens');
    expect(code).toBe(0);
  });

  test('without one of them: the row is left out', async () => {
    const ids = await rulesOf(projectOf());
    const world = projectOf();
    const { code, text } = await seen(world, fake(world, ...rowsAs(ids.slice(0, 1), 'own'), 'end()'));
    expect(text).toContain('✗ left-out 1 row: 2 The trainer leaves the row out.');
    expect(code).toBe(1);
  });

  test('its keys are no mistakes, and those of no version are', async () => {
    const world = projectOf();
    world.write(
      'train.yaml',
      'model_name_or_path: model\ndatasets: [{ path: json, data_files: rows.jsonl }]\nshort: 1\nlenght: 2',
    );
    const ids = await rulesOf(projectOf());
    const python = fake(world, ...rowsAs(ids, 'own'), 'say(version="9.9", settings={}, keys=["short"])');
    const { code, text } = await seen(world, python);
    expect(text).toContain('· short (line 3): The installed TRL 9.9 has this key');
    expect(text).toContain('✗ lenght (line 4): TRL 1.13.0 has no such key');
    expect(code).toBe(1);
  });

  test('it sees no GPU, no ranks and no network, and what it writes is removed', async () => {
    const world = projectOf({ RANK: '1', CUDA_VISIBLE_DEVICES: '0', OTHER: 'kept' });
    const names = ['RANK', 'CUDA_VISIBLE_DEVICES', 'HF_HUB_OFFLINE', 'OTHER'];
    const python = fake(
      world,
      `open(os.path.join(os.environ["HF_HOME"], "cache"), "w").close()`,
      `say(version="9.9", stops=json.dumps([[os.environ.get(name) for name in ${JSON.stringify(names)}], os.path.exists(asked["room"]), asked["room"]]))`,
    );
    const { text } = await seen(world, python);
    expect(text).toContain('[[null, "", "1", "kept"], true, ');
    const [, room = ''] = /true, "([^"]+)"/.exec(text) ?? [];
    expect(room).not.toBe('');
    expect(existsSync(room)).toBe(false);
  });
});

describe('a trainer that makes no rows: the rules do, and the exit code is theirs', () => {
  const RULES = 'rows by the documented rules of TRL 1.13.0 (trl sft): ';
  test.each([
    ['is not installed', ['say(absent="trl")'], 'has no package trl'],
    [
      'cannot be imported',
      ['say(broken="ImportError: no torch", version="9.9")'],
      'TRL 9.9 of FAKE cannot be imported: ImportError: no torch',
    ],
    [
      'refuses the configuration',
      ['say(stops="ValueError: no", version="9.9")'],
      'TRL 9.9 of FAKE makes no rows of this configuration: ValueError: no',
    ],
    ['crashes', ['sys.exit("out of luck")'], 'TRL in FAKE ended with exit code 1: out of luck'],
    ['is killed', ['os.kill(os.getpid(), 9)'], 'TRL in FAKE ended with SIGKILL'],
    ['says nothing', [], 'the answer of FAKE cannot be read'],
    [
      'answers with text',
      ['say(number=1, ids=["a"], labels=[1])', 'end()'],
      'the answer of TRL 9.9 in FAKE cannot be read',
    ],
    [
      'answers for a row that nobody gave',
      ['say(number=7, ids=[1], labels=[1])', 'end()'],
      'the answer of TRL 9.9 in FAKE cannot be read',
    ],
  ])('%s', async (_, lines, sentence) => {
    const world = projectOf();
    const { code, text } = await seen(world, fake(world, ...lines));
    expect(text).toContain(RULES);
    expect(text).toContain(flat(sentence.replace('FAKE', join(world.folder, 'fake'))));
    expect(text).toContain('None of 2 rows is flagged');
    expect(code).toBe(0);
  });

  test('there is no such Python', async () => {
    const { code, text } = await seen(projectOf(), './nowhere');
    expect(text).toContain('nowhere could not be started (ENOENT)');
    expect(code).toBe(0);
  });

  test('a package of this name that does not work, asked by the real module', async () => {
    const world = projectOf();
    mkdirSync(join(world.folder, 'lib', 'trl'), { recursive: true });
    world.write('lib/trl/__init__.py', '');
    const context = {
      ...world.context,
      env: { ...world.context.env, PYTHONPATH: join(world.folder, 'lib') },
    };
    const { runProgram } = await import('../../../src/cli/program.ts');
    const code = await runProgram(['view', '--config', 'train.yaml', '--python', 'python3'], context);
    expect(flat(world.both())).toMatch(/TRL of unknown version of python3 cannot be imported: \w*Error/);
    expect(code).toBe(0);
  });
});

test('a typed option that the trainer does not know: the rules make the rows', async () => {
  const world = projectOf();
  const { text } = await seen(world, fake(world, 'end()'), '--max-length', '30');
  expect(text).toContain('the trainer itself was not asked: it does not know --max-length');
});

test.each(['--by-rules', '--python=python3'])('%s without --config is refused', async (option) => {
  const world = projectOf();
  expect(await world.run('view', 'rows.jsonl', option)).toBe(2);
  expect(world.err()).toContain(`${option.split('=')[0]} belongs to --config`);
});

test('the module lets nothing of a trainer reach the network, sockets of this machine may be', async () => {
  const script = [
    'import socket, sys',
    'from lossproof_view.__main__ import no_network',
    'sys.addaudithook(no_network)',
    'for ask in (lambda: socket.getaddrinfo("localhost", 80), lambda: socket.socket().connect(("127.0.0.1", 9))):',
    '    try: ask()',
    '    except OSError as error: print(error)',
    'try: socket.socket(socket.AF_UNIX).connect("/nowhere.sock")',
    'except OSError as error: print(error.strerror)',
  ].join('\n');
  const { stdout } = await execa('python3', ['-c', script], { env: { PYTHONPATH: PYTHON_FOLDER } });
  expect(stdout.split('\n')).toEqual([
    'lossproof lets no trainer reach the network here',
    'lossproof lets no trainer reach the network here',
    'No such file or directory',
  ]);
});
