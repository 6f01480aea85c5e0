// What was not judged of a run's logs, behind what was: rules by what they lacked, a few lines in all.
import type { PropertyResult } from '../../check/events.ts';
import type { MonitorRule } from '../../monitor/rule.ts';
import { UNJUDGED } from '../../vocabulary.ts';
import { countedLines } from '../text/counted.ts';
import { plural } from '../text/plural.ts';
import type { MonitorPrint } from './monitor.ts';

export interface Unjudged {
  readonly ids: readonly string[];
  /** What they lacked. */
  readonly why: string;
}

/** What was never logged first; then by reason: those of most rules, and those that something can be done about, first. */
export function unjudgedOf(
  results: readonly PropertyResult[],
  rules: readonly MonitorRule[],
): readonly Unjudged[] {
  const left = results.filter(isUnjudged);
  const missing = left.filter(({ verdict }) => verdict === 'unsupported');
  const reasons = new Map<string, string[]>();
  for (const { id, reason = '', verdict } of left)
    if (verdict !== 'unsupported') reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
  return [
    ...(missing.length === 0
      ? []
      : [{ ids: missing.map(({ id }) => id), why: missingWords(missing, rules) }]),
    ...[...reasons]
      .map(([why, ids]) => ({ ids, why: why === '' ? 'nothing was said' : why }))
      .toSorted(
        (a, b) => b.ids.length - a.ids.length || Number(isMendable(b.why)) - Number(isMendable(a.why)),
      ),
  ];
}

/** `10 of 43 rules judged`. */
export function judgedWords(results: readonly PropertyResult[]): string {
  const judged = results.filter((result) => !isUnjudged(result)).length;
  return `${judged} of ${plural(results.length, 'rule')} judged`;
}

/** Nothing where every rule judged. */
export function unjudgedLines(
  results: readonly PropertyResult[],
  rules: readonly MonitorRule[],
  print: MonitorPrint,
): string[] {
  const groups = unjudgedOf(results, rules);
  if (groups.length === 0) return [];
  const few = results.length <= FEW_RULES;
  const shown = few ? groups : groups.slice(0, MOST_REASONS);
  const rest = groups.slice(shown.length).flatMap(({ ids }) => ids);
  const rows = [
    ...shown.map(({ ids, why }) => ({ count: ids.length, text: few ? `${ids.join(', ')}: ${why}` : why })),
    ...(rest.length === 0
      ? []
      : [{ count: rest.length, text: `for other reasons: ${namesOf(rest)} (--html FILE has them all)` }]),
  ];
  return countedLines(`${judgedWords(results)}. Not judged:`, rows, print);
}

// --- helpers ---

/** Someone who chose a few wants to see each. */
const FEW_RULES = 12;
const MOST_REASONS = 6;
const MOST_ROLES = 12;
const MOST_IDS = 4;

const isUnjudged = ({ verdict }: PropertyResult): boolean => UNJUDGED.includes(verdict);

/** Reasons that name what to log or to declare. */
const isMendable = (why: string): boolean => /needs|declare|--set|--fact|only evaluations/.test(why);

/** Roles in the order in which rules ask for them. */
function missingWords(missing: readonly PropertyResult[], rules: readonly MonitorRule[]): string {
  const ids = new Set(missing.map(({ id }) => id));
  const asking = rules.filter(({ id }) => ids.has(id));
  const roles = [...new Set(asking.flatMap((rule) => rule.roles))];
  const samples = asking.some((rule) => rule.samples === true && rule.roles.length === 0);
  const more = roles.length - MOST_ROLES;
  const named = `${roles.slice(0, MOST_ROLES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return [
    ...(roles.length === 0 ? [] : [`nothing logged of ${named}`]),
    ...(samples ? ['no rollouts (--rollouts PATH)'] : []),
  ].join('; ');
}

function namesOf(ids: readonly string[]): string {
  const more = ids.length - MOST_IDS;
  const names = ids.slice(0, MOST_IDS).map((id) => id.replace(/^monitor\//, ''));
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
