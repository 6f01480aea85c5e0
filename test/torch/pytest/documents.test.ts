// What docs/pytest.md shows is what `pytest` prints in the example.
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { EXAMPLE, makeFolder } from './pytest.ts';

/** Paths and times are each machine's own, rules as long as there is room. */
const plain = (text: string): string[] =>
  text
    .replaceAll(/^( *)\S*python\S* \S.*wrong\.py'? </gm, '$1python wrong.py <')
    .replaceAll(/ in [\d.]+s\b/g, ' in 1s')
    .replaceAll(/^[_=]+ (.*?) [_=]+$/gm, '$1')
    .split('\n')
    .map((line) => line.trimEnd());

test('the example prints what its document says, in this order', async () => {
  const document = readFileSync(join(PACKAGE_ROOT, 'docs', 'pytest.md'), 'utf8');
  const [, printed = ''] =
    /<!-- printed by LOSSPROOF_SEED=7 pytest.*?-->\n```\n(.*?)```/s.exec(document) ?? [];
  const folder = makeFolder();
  cpSync(EXAMPLE, folder.path, { recursive: true });
  const { code, out } = await folder.pytest([], { COLUMNS: '80' });
  expect(code, out).toBe(1);
  const lines = plain(out);
  let at = 0;
  for (const line of plain(printed.trimEnd()).filter((each) => each !== '...')) {
    const found = lines.indexOf(line, at);
    expect(
      found,
      `${JSON.stringify(line)} is not printed behind line ${at}:\n${lines.join('\n')}`,
    ).toBeGreaterThanOrEqual(at);
    at = found + 1;
  }
});
