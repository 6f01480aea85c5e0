// `pytest --lossproof`: items, verdicts and exit codes, in one process and in several.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { BOTH, makeFolder } from './pytest.ts';

const WRONG = [
  'wrong.py::mask::stop-token-is-trained-once',
  'wrong.py::mask::every-stop-id-ends-a-completion',
  'wrong.py::mask::unchanged-when-pad-is-renamed',
];
/** Tests of one trainer. */
const OF_MASK = properties.filter(({ id, level }) => id.startsWith('mask/') && level === 'must').length;
const failedOf = (out: string): string[] =>
  [...out.matchAll(/^FAILED (\S+)/gm)].map(([, id = '']) => id).toSorted();

test('a test per property, grouped by stage; workers of xdist come to the same verdicts; --lf begins with the saved case', async () => {
  const folder = makeFolder();
  const alone = await folder.pytest([...BOTH, '--junitxml', 'alone.xml']);
  expect(alone.code, alone.out).toBe(1);
  expect(failedOf(alone.out)).toEqual(WRONG.toSorted());
  expect(alone.out).toContain('lossproof: right.py, wrong.py; seed 7');
  expect(alone.out).toContain('observed  0       0\n                    ▲▲▲');
  expect(alone.out).not.toMatch(/Traceback|npx/);
  const verdicts = folder.junit('alone.xml');
  expect(Object.keys(verdicts)).toHaveLength(2 * OF_MASK);
  expect(verdicts['wrong.mask::stop-token-is-trained-once']).toMatch(
    /^fail failure fail: Token 1 \(id \d+\) stops the completion of row 0, /,
  );
  expect(readdirSync(join(folder.path, '.lossproof', 'cases'))).toEqual(['wrong.py']);

  const again = await folder.pytest([...BOTH, '--lf']);
  expect(again.code).toBe(1);
  expect(failedOf(again.out)).toEqual(WRONG.toSorted());
  expect(again.out.match(/failed in a saved case/g)).toHaveLength(3);
  expect(again.out).toMatch(/3 failed, \d+ deselected/);

  const other = makeFolder();
  const several = await other.pytest([...BOTH, '-n', '2', '--junitxml', 'several.xml']);
  expect(several.code, several.out).toBe(1);
  expect(other.junit('several.xml')).toEqual(verdicts);
});

test('-k, -x, one test by its name, an ini file that names the adapters', async () => {
  const folder = makeFolder();
  const chosen = await folder.pytest([...BOTH, '-k', 'wrong and renamed', '-q']);
  expect(failedOf(chosen.out)).toEqual([WRONG[2]]);
  const first = await folder.pytest([...BOTH, '-x', '-q', '--tb=no']);
  expect(failedOf(first.out)).toEqual([WRONG[0]]);
  folder.write(
    'pytest.ini',
    '[pytest]\nlossproof =\n    right.py\n    wrong.py\naddopts = --lossproof-only mask\n',
  );
  const named = await folder.pytest([WRONG[0] ?? '', '-q', '--tb=no']);
  expect(named.out).toMatch(/\b1 failed in/);
  const right = await folder.pytest(['right.py', '-q']);
  expect(right.out).toContain(`${OF_MASK - 2} passed, 2 skipped in`);
  expect(right.code).toBe(0);
  const all = await folder.pytest(['--collect-only', '-q']);
  expect(all.out.match(/^(?:right|wrong)\.py::mask::/gm)).toHaveLength(2 * OF_MASK);
});

test('adapters of an ini file are tested wherever the user names no file, and a line says so where they are not', async () => {
  const folder = makeFolder();
  for (const name of ['tests', 'elsewhere']) {
    mkdirSync(join(folder.path, name));
    folder.write(join(name, 'test_one.py'), 'def test_one():\n    pass\n');
  }
  renameSync(join(folder.path, 'right.py'), join(folder.path, 'elsewhere', 'right.py'));
  const ini = (more: string): void =>
    folder.write(
      'pytest.ini',
      `[pytest]\nlossproof = elsewhere/right.py\naddopts = --lossproof-only mask/is-zero-or-one -q\n${more}\n`,
    );
  const own = /right\.py::mask::is-zero-or-one/;
  for (const [more, argv] of [
    ['', ['.']],
    ['', [folder.path]],
    ['', ['tests', './']],
    ['testpaths = test*', []],
    ['testpaths = gone', []],
  ] as const) {
    ini(more);
    const { out } = await folder.pytest(['--collect-only', ...argv]);
    expect(out, `${more} ${argv}`).toMatch(own);
    expect(out).not.toContain('not tested');
  }
  const named = await folder.pytest(['tests', '-n', '1']);
  expect(named.code, named.out).toBe(0);
  expect(named.out).toContain(
    'lossproof: not tested, because other files are named: elsewhere/right.py of pytest.ini; name them as well, or no file',
  );
  expect(named.out).toContain('1 passed');
});

test('what the test tree of an editor is made of: places that there are, and names by which each test runs alone', async () => {
  const folder = makeFolder();
  mkdirSync(join(folder.path, 'sub ß'));
  for (const name of ['right.py', 'wrong.py'])
    renameSync(join(folder.path, name), join(folder.path, 'sub ß', name));
  folder.write('test_mine.py', IN_A_TEST);
  folder.write(
    'pytest.ini',
    '[pytest]\nlossproof =\n    sub ß/right.py\n    sub ß/wrong.py\naddopts = --lossproof-only mask\n',
  );
  folder.write('places.py', PLACES);
  const collected = await folder.pytest(['--collect-only', '-q', '-p', 'places']);
  expect(collected.code, collected.out).toBe(0);
  const places = readFileSync(join(folder.path, 'places.txt'), 'utf8').trimEnd().split('\n');
  const ids = places.map((place) => place.split('\t')[0] ?? '');
  const printed = collected.out.split('\n').filter((line) => line.includes('.py::'));
  expect(printed.filter((line) => !line.startsWith('lossproof: '))).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  const ofMine = (id: string): boolean => id.startsWith('test_mine.py::');
  expect(ids.filter((id) => !ofMine(id))).toHaveLength(2 * OF_MASK);
  expect(ids.filter((id) => id.startsWith('test_mine.py::test_my_mask::mask::')).length).toBeGreaterThan(10);
  for (const place of places) {
    const [id = '', path = '', line = ''] = place.split('\t');
    expect(id.startsWith(`${path}::`), place).toBe(true);
    const lines = readFileSync(join(folder.path, path), 'utf8').split('\n');
    expect(lines[Number(line)], place).toBeDefined();
  }
  // As editors ask: by its own name, and with the folder's before it.
  for (const [id, before, verdict] of [
    ['sub ß/wrong.py::mask::stop-token-is-trained-once', `${folder.path}/`, 'failed'],
    ['sub ß/right.py::mask::stop-token-is-trained-once', '', 'passed'],
    ['test_mine.py::test_my_mask::mask::is-zero-or-one', `${folder.path}/`, 'passed'],
    ['test_mine.py::test_my_mask::mask::prompt-is-never-trained', '', 'failed'],
  ] as const) {
    expect(ids).toContain(id);
    const { out } = await folder.pytest([before + id, '-q', '--tb=no']);
    expect(out, id).toMatch(new RegExp(`^1 ${verdict} in`, 'm'));
  }
});

/** Each test's id and where it stands, as pytest's hooks give them to the plugin of an editor. */
const PLACES = `
def pytest_collection_finish(session):
    with open("places.txt", "w", encoding="utf-8") as file:
        for item in session.items:
            path, line, _ = item.location
            file.write("%s\\t%s\\t%d\\n" % (item.nodeid, path, line))
`;

test('what is not supported is skipped with its reason; where nothing is checked, that fails', async () => {
  const folder = makeFolder();
  const some = await folder.pytest(['--lossproof', 'python3 right.py', '--lossproof-only', 'mask,kl', '-rs']);
  expect(some.code, some.out).toBe(0);
  expect(some.out).toMatch(/SKIPPED \[\d+\] right\.py: unsupported: the adapter has no op `kl`/);
  const none = await folder.pytest(['--lossproof', 'right.py', '--lossproof-only', 'kl']);
  expect(none.code).toBe(1);
  expect(none.out).toContain('this trainer can be checked for nothing that was chosen');
  // It can be checked, and refuses every case.
  folder.write(
    'refuses.py',
    'import lossproof\n\n\n@lossproof.op\ndef mask(prompt_ids):\n    raise lossproof.Reject("no")\n\n\nlossproof.serve(name="refuses")\n',
  );
  const refused = await folder.pytest([
    '--lossproof',
    'refuses.py',
    '--lossproof-only',
    'mask/is-zero-or-one',
  ]);
  expect(refused.code, refused.out).toBe(1);
  expect(refused.out).toContain('nothing was checked: no property judged a case');
});

test('known failures are xfail; a known one that holds, and one that nobody knows, fail; --runxfail has them all fail', async () => {
  const folder = makeFolder();
  const known = {
    'mask/stop-token-is-trained-once': { reason: 'ticket 4' },
    'mask/every-stop-id-ends-a-completion': { reason: 'ticket 4' },
    'mask/unchanged-when-pad-is-renamed': { reason: 'ticket 4' },
    'mask/is-zero-or-one': { reason: 'ticket 5' },
    'mask/gone': { reason: 'ticket 6' },
  };
  folder.write('known.json', JSON.stringify(known));
  const asked = [
    '--lossproof',
    'wrong.py',
    '--lossproof-only',
    'mask',
    '--lossproof-known',
    'known.json',
    '-rxf',
  ];
  const { code, out } = await folder.pytest(asked);
  expect(code).toBe(1);
  // Each pytest has its own words for it.
  expect(out).toMatch(/^XFAIL wrong\.py::mask::stop-token-is-trained-once(?: - |\n {2}reason: )ticket 4$/m);
  expect(failedOf(out)).toEqual(['wrong.py::known-failures', 'wrong.py::mask::is-zero-or-one']);
  expect(out).toContain('stale: it holds now, and is listed as known: ticket 5');
  expect(failedOf((await folder.pytest([...asked, '--runxfail'])).out)).toHaveLength(5);
  const both = await folder.pytest([...BOTH, '--lossproof-known', 'known.json']);
  expect(both.code).toBe(4);
  expect(both.out).toContain("ERROR: --lossproof-known is a list of one trainer's failures");
});

test('an adapter lives in its test file, and an assertion speaks of a command', async () => {
  const folder = makeFolder();
  folder.write('test_mine.py', IN_A_TEST);
  const { code, out } = await folder.pytest(['test_mine.py', '-v']);
  expect(code, out).toBe(1);
  expect(out).toContain('test_mine.py::test_my_mask::mask::is-zero-or-one PASSED');
  expect(failedOf(out)).toEqual([
    'test_mine.py::test_my_mask::mask::prompt-is-never-trained',
    'test_mine.py::test_unclear',
    'test_mine.py::test_wrong',
  ]);
  expect(out).toContain('Token 0 (id 3) belongs to the prompt of row 0, but the mask trains on it.');
  expect(out).toContain('Nothing was checked of kl: unsupported: the adapter has no op `kl`');
  expect(out).toMatch(/\n_+ test_wrong _+\nwrong · seed 7 · 10 cases per property · 3 of \d+ do not hold\n/);
  expect(existsSync(join(folder.path, '.lossproof', 'cases'))).toBe(true);
});

test('what is legal and often not meant fails where it is asked for, at each door; a wait for answers is as long as is said', async () => {
  const folder = makeFolder();
  folder.write('unscaled.py', `${UNSCALED}lossproof.serve(name="unscaled")\n`);
  folder.write('test_doors.py', UNSCALED + STRICT);
  const asked = [
    '--lossproof',
    'unscaled.py',
    '--lossproof-only',
    'advantages',
    '--lossproof-cases',
    '20',
    '-q',
  ];
  const strictly = await folder.pytest([...asked, 'unscaled.py', '--lossproof-strict']);
  expect(strictly.code, strictly.out).toBe(1);
  expect(failedOf(strictly.out)).toEqual(['unscaled.py::advantages::equal-the-declared-formula']);
  expect(strictly.out).toContain('Measured, not declared: advantage_scaling is none.');
  const doors = await folder.pytest([...asked, '--tb=line']);
  expect(failedOf(doors.out), doors.out).toEqual([
    'test_doors.py::test_held',
    'test_doors.py::test_strict::advantages::equal-the-declared-formula',
  ]);
  folder.write('slow.py', `import time\n\n${UNSCALED}time.sleep(1)\nlossproof.serve(name="slow")\n`);
  const slow = ['--lossproof', 'slow.py', 'slow.py', '--lossproof-hello-timeout', '0.2'];
  expect((await folder.pytest(slow)).out).toContain('The trainer did not say hello within 0.2 s.');
  const wrong = await folder.pytest([...asked, '--lossproof-op-timeout', '0']);
  expect(wrong.code).toBe(4);
  expect(wrong.out).toContain('ERROR: --lossproof-op-timeout must be a number of seconds above 0');
});

/** Legal, and not what GRPO means. */
const UNSCALED = `import lossproof


@lossproof.op
def advantages(rewards, group_ids):
    groups = {}
    for reward, group in zip(rewards, group_ids):
        groups.setdefault(group, []).append(reward)
    return {"advantages": [reward - sum(groups[group]) / len(groups[group]) for reward, group in zip(rewards, group_ids)]}


`;

const STRICT = `
test_lenient = lossproof.pytest.properties(only="advantages", cases=20)
test_strict = lossproof.pytest.properties(only="advantages", cases=20, strict=True)


def test_held(lossproof_hold):
    lossproof_hold("python3 unscaled.py", "advantages", cases=20)
    lossproof_hold("python3 unscaled.py", "advantages", cases=20, strict=True, op_timeout=30, hello_timeout=300)


def test_checked():
    ops = {"advantages": advantages}
    assert lossproof.check(ops, only="advantages", seed=7, cases=20)
    assert [verdict.verdict for verdict in lossproof.check(ops, only="advantages", seed=7, cases=20, strict=True).failed] == ["ask"]
`;

test('two test files have an adapter each', async () => {
  const folder = makeFolder();
  const wrong = IN_A_TEST.replace('test_my_mask', 'test_wrong_mask').replace(/\ndef test_[\s\S]*/, '');
  folder.write('test_wrong.py', wrong);
  folder.write(
    'test_right.py',
    wrong.replace('(len(prompt) - 1)', 'len(prompt)').replace('(len(completion) + 1)', 'len(completion)'),
  );
  const { code, out } = await folder.pytest(['-q', '--tb=no']);
  expect(code, out).toBe(1);
  expect(failedOf(out)).toEqual(['test_wrong.py::test_wrong_mask::mask::prompt-is-never-trained']);
});

const IN_A_TEST = `
import lossproof


@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id):
    print("whatever a function prints is harmless")
    width = max(len(p) + len(c) for p, c in zip(prompt_ids, completion_ids))
    ids, real, trained = [], [], []
    for prompt, completion in zip(prompt_ids, completion_ids):
        pads = width - len(prompt) - len(completion)
        ids.append(prompt + completion + [pad_token_id] * pads)
        real.append([1] * (width - pads) + [0] * pads)
        trained.append([0] * (len(prompt) - 1) + [1] * (len(completion) + 1) + [0] * pads)
    return {"input_ids": ids, "attention_mask": real, "completion_mask": trained}


test_my_mask = lossproof.pytest.properties(only="mask", layout={"alignment": "token", "span": "row"})


def test_right(lossproof_hold):
    lossproof_hold("python3 right.py", "mask/*")


def test_wrong(lossproof_hold):
    lossproof_hold(["python3", "wrong.py"], "mask/*", cases=10)


def test_unclear(lossproof_hold):
    lossproof_hold("python3 right.py", "mask", "kl")
`;
