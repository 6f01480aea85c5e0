// Nothing in golden/ lies there unread, and no function waits for an entry that is gone.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCauses } from '../../src/check/saved/causes.ts';
import { ADAPTERS } from '../../src/cli/trainer/adapters.ts';
import { COMPUTATIONS } from './computations.ts';
import { GOLDEN, goldenFiles, MADE_FOLDERS, ROOT } from './files.ts';
import { TEXT_COMPUTATIONS } from './transformers-computations.ts';

const readme = readFileSync(join(GOLDEN, 'README.md'), 'utf8');
const KNOWN = join(ROOT, 'src', 'python', 'lossproof', 'adapters', 'known');

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

describe('known failures of real trainers', () => {
  const files = readdirSync(KNOWN).filter((name) => name.endsWith('.json'));

  test('lie with the adapters, and the README says so', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(readme).toContain('src/python/lossproof/adapters/known');
    for (const name of files) expect(Object.keys(ADAPTERS)).toContain(name.replace('.json', ''));
  });

  test.each(files)('%s explains each: why, where it may be read, and the case that shows it', (name) => {
    const read = readCauses(join(KNOWN, name));
    if ('problem' in read) throw new Error(read.problem);
    for (const { reason, link, line, failures } of read.causes) {
      expect(reason.length, reason).toBeGreaterThan(LEAST_REASON);
      expect(reason).toMatch(/\.$/);
      expect(line.length, reason).toBeGreaterThan(0);
      if (link !== undefined) expect(link, reason).toMatch(/^https:\/\/\S+$/);
      expect(Object.keys(failures).length, reason).toBeGreaterThan(0);
      for (const [id, { given, kind }] of Object.entries(failures)) {
        expect(given, id).toBeDefined();
        expect(kind, id).toBeDefined();
      }
    }
  });
});

/** Characters: shorter than this, a reason is a name for the failure and not a reason. */
const LEAST_REASON = 40;
