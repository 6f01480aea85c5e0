// The reports of docs/trainers/findings are whole, and the lists of known failures and they name each other.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { properties } from '../../properties/index.ts';
import { findings, LIBRARIES } from '../../scripts/docs/findings.ts';
import { readCauses } from '../../src/check/saved/causes.ts';
import { ADAPTERS } from '../../src/cli/trainer/adapters.ts';
import { PACKAGE_ROOT } from '../../src/version.ts';

const all = findings();
const ids = new Set(properties.map(({ id }) => id));
const causes = Object.keys(ADAPTERS).flatMap((adapter) => {
  const read = readCauses(join(PACKAGE_ROOT, `src/python/lossproof/adapters/known/${adapter}.json`));
  if ('problem' in read) throw new Error(read.problem);
  return read.causes.map((cause) => ({ adapter, ...cause }));
});

test.each(all.map((finding) => [finding.name, finding] as const))(
  '%s has all that a report needs',
  (_, finding) => {
    expect(Object.keys(finding.facts)).toEqual(['Version', 'Where', 'Found by', 'Thread']);
    expect(finding.facts.Version).toContain(LIBRARIES[finding.library]);
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
    if (versions[1] !== null || IN_A_CLONE.has(adapter)) continue;
    const report = all.find(({ name }) => name === finding);
    expect(report, `${adapter}: ${line}`).toBeDefined();
    for (const id of Object.keys(failures))
      expect(report?.facts['Found by'], `${adapter}: ${line}`).toContain(`\`${id}\``);
  }
});

/** A commit of someone's experiment: its page tells its bugs. */
const IN_A_CLONE: ReadonlySet<string> = new Set(['grpo-dual', 'orz', 'priorzero', 'search-r1']);
