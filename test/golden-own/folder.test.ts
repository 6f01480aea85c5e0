// Nothing in golden/ lies there unread, and no function waits for an entry that is gone.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMPUTATIONS } from './computations.ts';
import { GOLDEN, goldenFiles, MADE_FOLDERS, ROOT } from './files.ts';
import { TEXT_COMPUTATIONS } from './transformers-computations.ts';

const readme = readFileSync(join(GOLDEN, 'README.md'), 'utf8');

describe('golden/', () => {
  test('holds nothing that its README does not name', () => {
    const folders = readdirSync(GOLDEN).filter((name) => name !== 'README.md');
    for (const name of folders) expect(readme, `golden/${name}`).toMatch(new RegExp(`\`${name}/?\``));
    const report = readdirSync(join(GOLDEN, 'report')).filter((name) => !name.endsWith('.png'));
    for (const name of report) expect(readme, `golden/report/${name}`).toContain(`\`${name}\``);
  });

  test.each(MADE_FOLDERS)('%s says which script made it, and the script is there', (folder) => {
    for (const { name, made_by, versions } of goldenFiles(folder)) {
      expect(made_by, name).toBe(`scripts/golden/from_${folder}.py`);
      expect(existsSync(join(ROOT, made_by)), name).toBe(true);
      expect(Object.keys(versions).length, name).toBeGreaterThan(0);
    }
  });

  test('every entry is read by a function, and every function has an entry', () => {
    const named = new Set(
      MADE_FOLDERS.flatMap((folder) =>
        goldenFiles(folder).flatMap(({ entries }) => entries.map(({ compute }) => compute)),
      ),
    );
    expect([...named].sort()).toEqual(
      [...Object.keys(COMPUTATIONS), ...Object.keys(TEXT_COMPUTATIONS)].sort(),
    );
  });

  test('a worked example names its year and where in the source its formula stands', () => {
    for (const { name, entries } of goldenFiles('papers'))
      for (const { id, source } of entries)
        expect(source, `golden/${name}: ${id}`).toMatch(
          /\b(19|20)\d\d\b.*(equation|section|figure|table|appendix|listing|definition|loss|estimator|reward|code|sampling|measure|KL)|^the /i,
        );
  });

  test('has what the reports of a failing run are held to', () => {
    for (const name of ['run.ndjson', 'terminal.txt', 'page.html', 'known.json'])
      expect(existsSync(join(GOLDEN, 'report', name)), name).toBe(true);
  });
});
