// How news of a reading is told: in words for a person, or, with --json, as a JSON object a line for a program
// (PROTOCOL.md, "Monitor pipe").
import type { PropertyResult } from '../../check/events.ts';
import type { RuleState } from '../../monitor/history/history.ts';
import type { Violation } from '../../monitor/rule.ts';
import { plainNumber } from '../../report/machine/ndjson.ts';
import { type MonitorPrint, newsLine } from '../../report/monitor/monitor.ts';
import { countsLine } from '../../report/summary.ts';
import { harmless, wrap } from '../../report/text/visible.ts';
import { VERSION } from '../../version.ts';

/** A rule that was just broken for the first time in a run. */
export interface News {
  readonly state: RuleState;
  readonly violation: Violation;
}

/** Lines without their ends. */
export interface Telling {
  /** A program reads it. */
  readonly as?: 'document';
  news(news: News, severalRuns: boolean): readonly string[];
  complaint(sentence: string): readonly string[];
}

export function inWords({ width, paint }: MonitorPrint): Telling {
  return {
    news: ({ state, violation }, several) =>
      wrap(newsLine(state.rule.id, state.run, violation.sentence, several), width).map(paint.orange),
    complaint: (sentence) => wrap(`! ${harmless(sentence)}`, width),
  };
}

/** `isKnown`: a failure of this rule is one that the user knows of. */
export function inJson(isKnown: (id: string) => boolean): Telling {
  return {
    as: 'document',
    news({ state, violation }) {
      const { id, level, advice } = state.rule;
      const { kind, sentence, series, step, value } = violation;
      const known = isKnown(id) ? { known: true } : {};
      const place = { series: series?.name ?? null, step: step ?? null, value: value ?? null };
      return [
        line({ type: 'violation', id, level, kind, sentence, advice, run: state.run, ...place, ...known }),
      ];
    },
    complaint: (sentence) => [line({ type: 'complaint', sentence })],
  };
}

/** The first line of `--json`: it listens. */
export function beginLine(): string {
  return line({ type: 'begin', version: VERSION });
}

/** The last line of `--json`. */
export function verdictLine(results: readonly PropertyResult[], exitCode: number): string {
  const failed = results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
  return line({ type: 'verdict', exitCode, sentence: countsLine(results, ['rule', 'rules']), failed });
}

function line(object: object): string {
  return JSON.stringify(object, plainNumber);
}
