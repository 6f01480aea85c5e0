import { execa } from 'execa';
import { expect, test } from 'vitest';
import { badgeJson } from '../../../src/report/machine/badge.ts';
import { junitReport } from '../../../src/report/machine/junit.ts';
import type { Run } from '../../../src/report/runs.ts';
import { failure, maskStrip, result } from '../results.ts';
import { broken, cutOff, failing, HOSTILE, runWith } from './finished.ts';

const junit = (...results: Parameters<typeof runWith>[0]): string => junitReport([runWith(results)]);

/** What an XML parser that is not ours makes of it: [tag, attributes, text, children]. */
type Element = [string, Record<string, string>, string, Element[]];

async function parsed(xml: string): Promise<Element> {
  const program = `
import json, sys, xml.etree.ElementTree as tree
def plain(node): return [node.tag, node.attrib, node.text or "", [plain(child) for child in node]]
print(json.dumps(plain(tree.fromstring(sys.stdin.buffer.read()))))`;
  const { stdout } = await execa('python3', ['-c', program], { input: Buffer.from(xml) });
  return JSON.parse(stdout) as Element;
}

const children = ([, , , inner]: Element, tag: string): Element[] => inner.filter(([name]) => name === tag);

test('JUnit counts verdicts apart and escapes what XML cannot hold', () => {
  const text = junit(
    result(),
    failing('mask/x', 'a < b & "c" \u0000'),
    result({ id: 'mask/y', verdict: 'unsupported', reason: 'no op' }),
  );
  expect(text).toContain('tests="3" failures="1" errors="0" skipped="1"');
  expect(text).toContain('<failure message="a &lt; b &amp; &quot;c&quot; \ufffd"');
  expect(text).toContain('<skipped message="unsupported: no op"/>');
  expect(text).not.toContain('\u0000');
});

test('JUnit says of a passing property how many cases were not judged', () => {
  const text = junit(result({ rejected: 2, setAside: 3 }), result());
  expect(text.split('<system-out>')).toHaveLength(2);
  expect(text).toContain('<system-out>100 cases, 2 refused, 3 set aside</system-out>');
});

test('JUnit of every verdict and of hostile text is read by an XML parser, and the text comes back', async () => {
  const known = { ...failing('mask/known'), verdict: 'known', reason: 'ticket 4' } as const;
  const strip = { ...maskStrip(), tokens: maskStrip().tokens.map((token) => ({ ...token, text: HOSTILE })) };
  const results = [
    result(),
    failing('mask/hostile', HOSTILE),
    failing('mask/long', 'x'.repeat(100_000)),
    result({
      id: 'mask/strip',
      verdict: 'fail',
      failure: failure({ finding: { kind: HOSTILE, sentence: 'A strip.', strips: [strip] } }),
    }),
    broken('mask/error', HOSTILE),
    { ...failing('mask/changed'), verdict: 'changed', reason: 'it was "nan"' } as const,
    result({ id: 'mask/thin', verdict: 'thin', reason: 'only 1 % of the cases had padding' }),
    result({ id: 'mask/stale', verdict: 'stale', reason: 'it holds now' }),
    result({ id: HOSTILE, verdict: 'unseen', reason: 'no property is called so' }),
    known,
    result({ id: 'mask/skipped', verdict: 'skipped', reason: HOSTILE }),
  ];
  const xml = junitReport([
    runWith(results, { command: `python adapter.py '${HOSTILE}'` }),
    runWith([result()]),
  ]);
  const root = await parsed(xml);
  expect(root[0]).toBe('testsuites');
  expect(root[1]).toMatchObject({ tests: '12', failures: '7', errors: '1', skipped: '2', time: '24.600' });
  const [first, second] = children(root, 'testsuite');
  if (first === undefined || second === undefined) throw new Error('no suites');
  expect([first[1].name, second[1].name]).toEqual(['my-trainer 0.4 (1)', 'my-trainer 0.4 (2)']);
  const cases = children(first, 'testcase');
  expect(cases).toHaveLength(results.length);
  expect(cases[0]?.[1]).toMatchObject({ classname: 'my-trainer.mask', file: 'adapter.py', time: '0.120' });
  const readable = ['\u0000', '\u001b', '\ud800'].reduce(
    (text, held) => text.replaceAll(held, '\ufffd'),
    HOSTILE,
  );
  expect(cases[1]?.[3][0]?.[1].message).toBe(readable);
  expect(cases[1]?.[3][0]?.[2]).toContain('npx lossproof replay 7f3a9c');
  expect(cases[2]?.[3][0]?.[2].length).toBeLessThan(25_000);
  expect(cases[4]?.[3][0]?.[0]).toBe('error');
  expect(cases[9]?.[3][0]?.[0]).toBe('skipped');
  expect(children(second, 'testcase')[0]?.[1].classname).toBe('my-trainer (2).mask');
});

test('JUnit of a run that was cut off has a test in error and the properties that had no turn', async () => {
  const whole = runWith([result(), result({ id: 'mask/y' })]);
  const torn: Run = cutOff({ ...whole, results: whole.results.slice(0, 1) });
  const root = await parsed(junitReport([torn]));
  expect(root[1]).toMatchObject({ tests: '3', failures: '0', errors: '1', skipped: '1' });
  const messages = children(children(root, 'testsuite')[0] as Element, 'testcase').map(
    ([, , , inner]) => inner[0]?.[1].message,
  );
  expect(messages[1]).toBe('interrupted: the run ended before it');
  expect(messages[2]).toContain('after 1 of 2 properties');
});

test('JUnit of the same trainer in another version keeps its class, for the history of a test', () => {
  const at = (version: string): string =>
    junitReport([runWith([result()], { hello: { protocol: 1, name: 'trl.grpo', version, ops: {} } })]);
  for (const version of ['0.4', '0.5']) expect(at(version)).toContain('classname="trl_grpo.mask"');
});

test('JUnit says when a run began, where its events do', () => {
  const started = '2026-03-01T09:30:00.000Z';
  expect(junitReport([runWith([result()], { started })])).toContain(`timestamp="${started}"`);
  expect(junit(result())).not.toContain('timestamp');
});

test('a badge says the verdict in words and in a colour', () => {
  const badge = (...runs: readonly Run[]): { message: string; color: string } =>
    JSON.parse(badgeJson(runs)) as { message: string; color: string };
  const good = runWith([result(), result({ id: 'mask/y' }), result({ verdict: 'unsupported' })]);
  const bad = runWith([result(), failing('mask/x'), broken('mask/z')]);
  expect(JSON.parse(badgeJson([good]))).toMatchObject({
    schemaVersion: 1,
    label: 'lossproof: my-trainer',
  });
  expect(badge(good).message).toBe('2 hold');
  expect(badge(bad).message).toBe('1 fails, 1 error, 1 holds');
  expect(badge(good, bad).message).toBe('1 fails, 1 error, 3 hold');
  expect(badge(bad).color).not.toBe(badge(good).color);
  expect(badge(cutOff(good)).message).toBe('interrupted, 2 hold');
  expect(badge(cutOff(good)).color).not.toBe(badge(good).color);
  expect(badge(runWith([result({ verdict: 'unsupported' })])).message).toBe('nothing checked');
  expect(badge().message).toBe('nothing checked');
});
