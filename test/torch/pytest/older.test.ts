// pytest where Python imports another lossproof than the one that is installed: one sentence, and no AttributeError of a module that
// the test knows well.
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { copyTo, OLDER, sdkBeforeTheDoor, VERSION } from '../../python/copies.ts';
import { makeFolder } from './pytest.ts';

const TEST = `
import lossproof

test_mine = lossproof.pytest.properties(only="mask")
`;

test.each([[[]], [['-n', '1']], [['-q']]])('an SDK that has no `lossproof.pytest`, %j', async (more) => {
  const folder = makeFolder();
  const installed = copyTo(join(folder.path, 'installed'), VERSION);
  const older = sdkBeforeTheDoor(join(folder.path, 'older'));
  folder.write('test_mine.py', TEST);
  const { code, out } = await folder.pytest(['test_mine.py', ...more], {
    PYTHONPATH: [older, installed].join(delimiter),
  });
  expect(code, out).toBe(4);
  expect(out).toContain(
    `ERROR: lossproof: \`import lossproof\` gives ${join(older, 'lossproof')} here, and not ${join(installed, 'lossproof')}`,
  );
  expect(out).toContain(`take ${older} out of PYTHONPATH`);
  expect(out).not.toMatch(/AttributeError|Traceback|INTERNALERROR/);
});

test('an older plugin of an older SDK, where a test asks for what only the newer has', async () => {
  const folder = makeFolder();
  const installed = copyTo(join(folder.path, 'installed'), VERSION);
  const older = copyTo(join(folder.path, 'older'), OLDER);
  folder.write('test_mine.py', 'from lossproof.pytest import of_a_later_version\n');
  const { code, out } = await folder.pytest(['test_mine.py'], {
    PYTHONPATH: [older, installed].join(delimiter),
  });
  expect(code, out).toBe(4);
  expect(out).toMatch(
    new RegExp(`^ERROR: lossproof: this is lossproof ${OLDER} of .*, and it hides lossproof ${VERSION}`, 'm'),
  );
  // Without another one, what a test file gets wrong is its own error.
  const alone = await folder.pytest(['test_mine.py'], { PYTHONPATH: installed });
  expect(alone.code).toBe(2);
  expect(alone.out).toContain("cannot import name 'of_a_later_version'");
});

test('which of two versions has tested is said where the verdicts stand', async () => {
  const folder = makeFolder();
  const installed = copyTo(join(folder.path, 'installed'), VERSION);
  const older = copyTo(join(folder.path, 'older'), OLDER);
  const asked = ['--lossproof', 'right.py', '--lossproof-only', 'mask/is-zero-or-one', '-q'];
  const both = await folder.pytest(asked, { PYTHONPATH: [older, installed].join(delimiter) });
  expect(both.code, both.out).toBe(0);
  expect(both.out).toContain(`lossproof: this is lossproof ${OLDER} of ${older}`);
  expect((await folder.pytest(asked, { PYTHONPATH: installed })).out).not.toContain('this is lossproof');
});
