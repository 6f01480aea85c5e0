// Each rule over samples against logs that break it and logs that must not be blamed. A rule without both fails.
import { describe, expect, test } from 'vitest';
import { sampleRules } from '../../../properties/monitor/samples/index.ts';
import { bugs } from '../../../src/bugs/index.ts';
import { families } from '../../../src/tokenizers/load.ts';
import { emptyLogs } from './logs/empty.ts';
import { idsLogs } from './logs/ids.ts';
import { answer, type Logs, question, sample, times } from './logs/log.ts';
import { rewardsLogs } from './logs/rewards.ts';
import { sidesLogs } from './logs/sides.ts';
import { startLogs } from './logs/start.ts';
import { stopsLogs } from './logs/stops.ts';
import { textLogs } from './logs/text.ts';
import { family, findings, inSteps, ruleOf, sampleWithIds, skipSpecials, watch } from './watching.ts';

const LOGS: Logs = {
  ...startLogs,
  ...stopsLogs,
  ...idsLogs,
  ...emptyLogs,
  ...textLogs,
  ...rewardsLogs,
  ...sidesLogs,
};

describe.each(Object.entries(LOGS))('monitor/%s', (id, logs) => {
  test.each(logs.filter(({ kind }) => kind !== undefined))('blames: $name', (log) => {
    const { violations } = watch(ruleOf(id), log.samples, log);
    expect(violations.map(({ kind }) => kind)).toEqual([log.kind]);
    const [violation] = violations;
    expect(violation?.sample).toBeDefined();
    expect(violation?.sentence).toMatch(/^[A-Z\d].*\.$/s);
    if (log.says !== undefined) expect(violation?.sentence).toMatch(log.says);
    for (const [from, to] of violation?.marks ?? []) {
      expect(to).toBeGreaterThan(from);
      const length = violation?.sample?.completionIds?.length ?? violation?.sample?.completion?.length ?? 0;
      expect(to).toBeLessThanOrEqual(length);
    }
  });

  test.each(logs.filter(({ kind }) => kind === undefined))('no false positive: $name', (log) => {
    expect(watch(ruleOf(id), log.samples, log).violations).toEqual([]);
  });

  test('says why where it judged nothing', () => {
    const nothing = watch(ruleOf(id), [sample({})]);
    expect(nothing).toMatchObject({ violations: [], judged: 0, why: expect.stringMatching(/./) });
  });
});

test('every rule is shown to find a fault and to pass what is healthy', () => {
  for (const { id } of sampleRules) {
    const logs = LOGS[id.replace('monitor/', '')] ?? [];
    expect(
      logs.some(({ kind }) => kind !== undefined),
      `${id} blames`,
    ).toBe(true);
    expect(
      logs.filter(({ kind }) => kind === undefined).length,
      `${id} passes what is healthy`,
    ).toBeGreaterThan(1);
  }
  expect(
    Object.keys(LOGS)
      .map((id) => `monitor/${id}`)
      .toSorted(),
  ).toEqual(sampleRules.map(({ id }) => id).toSorted());
});

test('the bugs that rules name are in the catalogue', () => {
  const known = new Set(bugs.map(({ id }) => id));
  for (const rule of sampleRules) for (const row of rule.catches) expect(known, rule.id).toContain(row);
});

describe('healthy logs', () => {
  test.each(families)('with ids, %s', (name) => {
    const each = family(name);
    const samples = inSteps(
      times(96, (at) => ({
        ...sampleWithIds(each, question(at), answer(at + Math.floor(at / 12))),
        reward: at % 3,
        advantage: (at % 3) - 1,
      })),
      24,
    );
    expect(findings(samples, { tokens: each.tokens })).toEqual([]);
  });

  test.each(families)('as text without special tokens, %s', (name) => {
    const each = family(name);
    const samples = inSteps(
      times(96, (at) =>
        sample({
          prompt: skipSpecials(each.ask(question(at)), each.tokens),
          completion: answer(at + Math.floor(at / 12)),
          reward: at % 3,
        }),
      ),
      24,
    );
    expect(findings(samples)).toEqual([]);
    expect(findings(samples, { tokens: each.tokens })).toEqual([]);
  });

  test.each(families)('as text with special tokens, %s', (name) => {
    const each = family(name);
    const stop = each.tokens.textOf(each.tokens.stopIds.at(-1) ?? -1);
    const samples = inSteps(
      times(96, (at) =>
        sample({
          prompt: each.ask(question(at)),
          completion: `${answer(at + Math.floor(at / 12))}${stop}`,
          reward: at % 3,
        }),
      ),
      24,
    );
    expect(findings(samples)).toEqual([]);
    expect(findings(samples, { tokens: each.tokens })).toEqual([]);
  });
});
