// What a property of ledgers says of a sketch, as tests ask for it.
import { expect } from 'vitest';
import { ledgerProperties } from '../../../properties/ledger/index.ts';
import type { LedgerFinding, LedgerJudgement } from '../../../src/trace/property.ts';
import { type LedgerSketch, ledgerOf } from '../traced.ts';

/** As a run does it: a rule that lacks what it needs judges nothing. */
export function judged(id: string, sketch: LedgerSketch): LedgerJudgement {
  const property = ledgerProperties.find((each) => each.id === id);
  if (property === undefined) throw new Error(`no property ${id}`);
  const ledger = ledgerOf(sketch);
  const lack = property.needs?.(ledger);
  return lack === undefined ? property.judge(ledger) : { judged: 0, setAside: [], findings: [], more: 0 };
}

/** The one thing that is worst; fails where nothing is found. */
export function worst(id: string, sketch: LedgerSketch): LedgerFinding {
  const [finding] = judged(id, sketch).findings;
  if (finding === undefined) throw new Error(`${id} finds nothing`);
  return finding;
}

/** Judged at least once, and nothing found. */
export function holds(id: string, sketch: LedgerSketch): void {
  const { judged: count, findings } = judged(id, sketch);
  expect(findings.map(({ sentence }) => sentence)).toEqual([]);
  expect(count, `${id} judges nothing`).toBeGreaterThan(0);
}

/** Nothing found, and nothing that a pass could rest on: for this reason, where one is given. */
export function silent(id: string, sketch: LedgerSketch, why?: string): void {
  const { judged: count, findings, setAside } = judged(id, sketch);
  expect({ count, findings }).toEqual({ count: 0, findings: [] });
  if (why !== undefined) expect(new Set(setAside)).toEqual(new Set([why]));
}
