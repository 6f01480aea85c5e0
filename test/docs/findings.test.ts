// The reports of docs/trainers/findings are whole, and the lists of known failures and they name each other.
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { findings, LIBRARIES } from '../../scripts/docs/findings.ts';
import { causesOf } from '../../scripts/docs/known-page.ts';
import { ADAPTER_NAMES, ADAPTERS } from '../../src/cli/trainer/adapters.ts';

const all = findings();
const ids = new Set(properties.map(({ id }) => id));
const causes = ADAPTER_NAMES.flatMap((adapter) => causesOf(adapter).map((cause) => ({ adapter, ...cause })));

test.each(all.map((finding) => [finding.name, finding] as const))(
  '%s has all that a report needs',
  (_, finding) => {
    expect(Object.keys(finding.facts)).toEqual(['Version', 'Where', 'Found by', 'Thread']);
    expect(finding.facts.Version).toContain(LIBRARIES.get(finding.library));
    expect(Object.keys(finding.sections)).toEqual([
      'Reproduction',
      'Expected',
      'Observed',
      'What would mend it',
    ]);
    expect(finding.reproduction).not.toContain('lossproof');
    expect(finding.reproduction).toContain(finding.library);
    expect(finding.observed).not.toContain('Traceback');
  },
);

test('properties that reports name are there', () => {
  const named = all.flatMap(({ facts }) => [...(facts['Found by'] ?? '').matchAll(/`([a-z-]+\/[a-z-]+)`/g)]);
  expect(named.length).toBeGreaterThan(all.length);
  expect(named.map(([, id = '']) => id).filter((id) => !ids.has(id))).toEqual([]);
});

test('each cause that the newest version has leads to its report, which names its properties', () => {
  for (const { adapter, line, versions, finding, failures } of causes) {
    // A commit of someone's experiment: its page tells its bugs.
    if (versions[1] !== null || ADAPTERS[adapter]?.sources === undefined) continue;
    const report = all.find(({ name }) => name === finding);
    expect(report, `${adapter}: ${line}`).toBeDefined();
    for (const id of Object.keys(failures))
      expect(report?.facts['Found by'], `${adapter}: ${line}`).toContain(`\`${id}\``);
  }
});
