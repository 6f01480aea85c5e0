import { expect, test } from 'vitest';
import { bugsOf } from '../../../src/bugs/index.ts';
import { sarifReport } from '../../../src/report/machine/sarif.ts';
import type { Run } from '../../../src/report/runs.ts';
import { result } from '../results.ts';
import { broken, cutOff, failing, HOSTILE, runWith } from './finished.ts';

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly [
    { readonly physicalLocation: { readonly artifactLocation: { readonly uri: string } } },
  ];
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly suppressions?: readonly { readonly kind: string; readonly justification: string }[];
}
interface Rule {
  readonly id: string;
  readonly shortDescription: { readonly text: string };
  readonly help?: { readonly text: string; readonly markdown: string };
  readonly helpUri?: string;
}
interface SarifRun {
  readonly tool: {
    readonly driver: { readonly name: string; readonly version: string; readonly rules: readonly Rule[] };
  };
  readonly automationDetails: { readonly id: string };
  readonly invocations: readonly [{ readonly executionSuccessful: boolean }];
  readonly results: readonly Result[];
}

/** What the standard asks of every document (sections 3.13, 3.14, 3.27, 3.49) and code scanning on top of it. */
function sarifOf(...runs: readonly Run[]): readonly SarifRun[] {
  const document = JSON.parse(sarifReport(runs)) as { version: string; runs: readonly SarifRun[] };
  expect(document.version).toBe('2.1.0');
  expect(document.runs).toHaveLength(runs.length);
  const categories = document.runs.map(({ automationDetails }) => automationDetails.id);
  expect(new Set(categories).size).toBe(runs.length);
  for (const { tool, results, invocations } of document.runs) {
    const { name, version, rules } = tool.driver;
    expect([name, version]).toEqual(['lossproof', '0.1.0']);
    expect(typeof invocations[0].executionSuccessful).toBe('boolean');
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    for (const rule of rules) {
      expect(rule.shortDescription.text).not.toBe('');
      expect(rule.helpUri).toBeUndefined();
      if (rule.help !== undefined) expect(rule.help.text).not.toBe('');
    }
    for (const each of results) {
      expect(rules[each.ruleIndex]?.id).toBe(each.ruleId);
      expect(['error', 'warning', 'note', 'none']).toContain(each.level);
      expect(each.message.text).not.toBe('');
      const { uri } = each.locations[0].physicalLocation.artifactLocation;
      // A relative reference: code scanning finds the file in the repository by it.
      expect(uri).toMatch(/^(?!\/)(?:[\w.~!$&'()*+,;=@-]|%[0-9A-F]{2}|\/)+$/);
    }
  }
  return document.runs;
}

test('what does not hold is a result, what holds is none, and each has its rule', () => {
  const [run] = sarifOf(
    runWith([
      result(),
      failing('mask/x'),
      broken('mask/y'),
      result({ id: 'mask/thin', verdict: 'thin', reason: 'only 1 % had padding' }),
      { ...failing('mask/changed'), verdict: 'changed', reason: 'it was "nan"' },
      result({ id: 'mask/stale', verdict: 'stale', reason: 'it holds now' }),
      result({ id: 'mask/unseen', verdict: 'unseen', reason: 'not judged' }),
      result({ id: 'mask/skipped', verdict: 'skipped', reason: 'refused' }),
    ]),
  );
  expect(run?.results.map(({ ruleId, level }) => `${ruleId} ${level}`)).toEqual([
    'mask/x error',
    'mask/y error',
    'mask/changed error',
    'mask/thin warning',
    'mask/stale warning',
    'mask/unseen warning',
  ]);
  expect(run?.tool.driver.rules).toHaveLength(6);
  expect(run?.results[0]?.message.text).toContain('belongs to the prompt of row 1');
  expect(run?.results[0]?.partialFingerprints).toEqual({
    'property/v1': 'mask/x',
    'propertyAndCase/v1': 'mask/x 7f3a9c',
  });
});

test('a known failure is there, suppressed by its reason and its link', () => {
  const link = 'https://example.org/4';
  const [run] = sarifOf(runWith([{ ...failing('mask/x'), verdict: 'known', reason: 'ticket 4', link }]));
  expect(run?.results[0]?.suppressions).toEqual([
    { kind: 'external', status: 'accepted', justification: `ticket 4 ${link}` },
  ]);
});

test('the help of a rule says why it matters and what is done about the bugs that it catches', () => {
  const [run] = sarifOf(runWith([failing('mask/x')]));
  const help = run?.tool.driver.rules[0]?.help;
  expect(help?.markdown).toContain('The model learns to ask.');
  const [bug] = bugsOf(['MSK-01']);
  expect(help?.markdown).toContain(bug?.what);
  expect(help?.text).toContain(bug?.todo);
});

test.each([
  ['python adapter.py', 'adapter.py'],
  ['python ./tools/adapter.py --lr 1e-4', 'tools/adapter.py'],
  ["env A=b.py '.venv/bin/python' 'my tools/ädapter.py'", 'my%20tools/%C3%A4dapter.py'],
  ['node adapter.mjs other.ts', 'adapter.mjs'],
  ['python /home/me/adapter.py', 'lossproof.config.json'],
  ['python ../adapter.py', 'lossproof.config.json'],
  ['python -m lossproof.adapters.trl.grpo', 'lossproof.config.json'],
  ['', 'lossproof.config.json'],
])('the results of `%s` stand at %s', (command, uri) => {
  const [run] = sarifOf(runWith([failing('mask/x')], { command }));
  expect(run?.results[0]?.locations[0].physicalLocation.artifactLocation.uri).toBe(uri);
});

test('hostile text stays text, and an id that is no property has a rule all the same', () => {
  const hostile = [failing('mask/x', HOSTILE), result({ id: HOSTILE, verdict: 'unseen', reason: HOSTILE })];
  const start = { ...runWith(hostile).start, properties: [], command: `'${HOSTILE}.py'` };
  const text = sarifReport([{ ...runWith(hostile), start }]);
  expect(text).not.toMatch(/\\u0000|\\u001b|\\ud800|\u202e/i);
  sarifOf({ ...runWith(hostile), start });
});

test('a run that was cut off did not succeed, and runs of one trainer have categories of their own', () => {
  const runs = sarifOf(cutOff(runWith([result()])), runWith([result()]));
  expect(runs.map(({ invocations }) => invocations[0].executionSuccessful)).toEqual([false, true]);
  expect(runs.map(({ automationDetails }) => automationDetails.id)).toEqual([
    'lossproof/my-trainer/',
    'lossproof/my-trainer (2)/',
  ]);
});
