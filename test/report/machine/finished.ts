// Runs of hand-made results for the reports that CI systems read, and text that would break each of them.
import type { PropertyResult } from '../../../src/check/events.ts';
import type { Run, RunStart } from '../../../src/report/runs.ts';
import { failure, REPLAY, result, runStart } from '../results.ts';

export function runWith(results: readonly PropertyResult[], start: Partial<RunStart> = {}): Run {
  return {
    start: { ...(runStart(results.map(({ id }) => id)) as RunStart), replay: REPLAY, ...start },
    results,
    end: { type: 'run-end', interrupted: false, milliseconds: 12_300 },
  };
}

export function cutOff(run: Run): Run {
  const { end: _, ...unfinished } = run;
  return unfinished;
}

export function failing(id: string, sentence?: string): PropertyResult {
  const finding = sentence === undefined ? {} : { finding: { kind: 'k', sentence } };
  return result({ id, verdict: 'fail', failure: failure(finding) });
}

export function broken(id: string, message = 'The trainer died with SIGSEGV.'): PropertyResult {
  const { finding: _, ...rest } = failure();
  const trainerFailure = { kind: 'crash', message, advice: 'Run it by hand.' } as const;
  return result({ id, verdict: 'error', failure: { ...rest, trainerFailure } });
}

/** Markup, ends of cells, fences, commands and lines; controls, half a character, text from right to left. */
export const HOSTILE =
  ']]> <script>alert("1")</script> & \' | a ``` b ~~~~ *c* _d_ [e](f) $g$ \\ 50% ::error::x, y\n::set-output::\r\u0000\u001b[31m\ud800\u202e\u200b𝟙👩‍👩‍👧 é';
