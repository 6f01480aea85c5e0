// A badge as shields.io asks an endpoint for it: https://shields.io/badges/endpoint-badge. Words carry the verdict,
// the colour repeats it.
import { FAILING, type Verdict } from '../../vocabulary.ts';
import { BUNDLED, isCutOff, type Run } from '../runs.ts';
import { countVerdicts } from '../summary.ts';
import { clipped, harmless } from '../text/visible.ts';
import { countOf } from '../verdict.ts';

/**
 * JSON of one badge over all runs: `248 hold`, `2 fail, 246 hold`, `interrupted, 12 hold`, `nothing checked`, beside
 * whose trainer it was: `lossproof: my-trainer`.
 */
export function badgeJson(runs: readonly Run[]): string {
  const { message, color } = wordsOf(runs);
  return `${JSON.stringify({ schemaVersion: 1, label: labelOf(runs), message, color }, null, 2)}\n`;
}

function labelOf(runs: readonly Run[]): string {
  const names = new Set(runs.map(({ start }) => (start.bundled === true ? BUNDLED : start.hello.name)));
  const [name] = names;
  if (name === undefined) return 'lossproof';
  return `lossproof: ${names.size === 1 ? clipped(harmless(name), MOST_NAME) : `${names.size} trainers`}`;
}

/** A badge stands in a line of others. */
const MOST_NAME = 40;

// The report's blue and orange in a shade that white text can be read on; grey where nothing is known.
const BLUE = '0369a1';
const ORANGE = 'c2410c';
const GREY = '6b7280';

function wordsOf(runs: readonly Run[]): { readonly message: string; readonly color: string } {
  const counts = countVerdicts(runs.flatMap(({ results }) => results));
  const shown = SHOWN.filter((verdict) => counts[verdict] > 0).map((verdict) =>
    countOf(verdict, counts[verdict]),
  );
  const bad = FAILING.some((verdict) => counts[verdict] > 0);
  if (runs.some(isCutOff)) {
    return { message: ['interrupted', ...shown].join(', '), color: bad ? ORANGE : GREY };
  }
  if (!bad && runs.some(({ end }) => end?.noVerdict !== undefined))
    return { message: ['no verdict', ...shown].join(', '), color: GREY };
  if (shown.length === 0) return { message: 'nothing checked', color: GREY };
  return { message: shown.join(', '), color: bad ? ORANGE : BLUE };
}

/** What a badge has room for: what is wrong first, then what holds, then what one lives with. */
const SHOWN: readonly Verdict[] = [...FAILING, 'pass', 'known'];
