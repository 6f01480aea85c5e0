// Which failures the page tells, where and how often: one that several runs share is told once, one that a trainer
// repeats in every property is told once and referred to, and of thousands only the first have a card.
import type { PropertyFacts, PropertyResult, Replay } from '../../../check/events.ts';
import type { Stage } from '../../../check/property.ts';
import { FAILING } from '../../../vocabulary.ts';
import { troubleKey } from '../../failure/blocks.ts';
import { saidOf } from '../../failure/failure.ts';
import { type Run, runNames, stageOf } from '../../runs.ts';

export interface Told {
  /** The id of its card, or of its row where it has none. */
  readonly anchor: string;
  readonly result: PropertyResult;
  readonly facts: PropertyFacts;
  readonly replay: Replay | undefined;
  /** Names of the runs that have it, the one whose case is shown first. */
  readonly runs: readonly string[];
  /** Properties in which the trainer fails in the same way, and which are told here. */
  readonly also: readonly string[];
  /** Why there is no card of its own: nothing but a reason to tell, told under another, or too many. */
  readonly without?: 'case' | { readonly told: Told } | 'room';
}

export interface Telling {
  /** In the order of the page: those with a case before those with a reason only. */
  readonly failures: readonly Told[];
  readonly known: readonly Told[];
  /** The anchor of what a run's result is told under. */
  anchorOf(result: PropertyResult): string | undefined;
  /** It is one of so many that its line in the list is all that the page has of it. */
  isOnlyListed(result: PropertyResult): boolean;
}

/** A card is up to some 50 kB: with more of them a page is no longer opened, and nobody reads the hundredth. */
export const MOST_CARDS = 100;

export function telling(runs: readonly Run[]): Telling {
  const names = runNames(runs);
  const shared = new Map<string, Draft>();
  runs.forEach(({ start, results }, at) => {
    const facts = new Map(start.properties.map((each) => [each.id, each]));
    for (const result of results) {
      if (!FAILING.includes(result.verdict) && result.verdict !== 'known') continue;
      const key = keyOf(result);
      const known = shared.get(key);
      if (known === undefined)
        shared.set(key, {
          result,
          facts: facts.get(result.id) ?? unlisted(result),
          replay: start.replay,
          runs: [names[at] ?? ''],
          results: [result],
        });
      else {
        known.runs.push(names[at] ?? '');
        known.results.push(result);
      }
    }
  });
  return tell([...shared.values()]);
}

interface Draft extends Omit<Told, 'anchor' | 'without' | 'runs' | 'also'> {
  readonly runs: string[];
  readonly results: PropertyResult[];
}

function tell(drafts: readonly Draft[]): Telling {
  const anchors = new Map<PropertyResult, string>();
  const taken = new Map<string, number>();
  const listed = new Set<PropertyResult>();
  const troubles = new Map<string, Told & { readonly also: string[] }>();
  let cards = 0;
  const told = ({ results, ...draft }: Draft): Told => {
    const name = anchorName(draft.result.id);
    const times = (taken.get(name) ?? 0) + 1;
    taken.set(name, times);
    const anchor = times === 1 ? name : `${name}~${times}`;
    for (const result of results) anchors.set(result, anchor);
    const trouble = draft.result.verdict === 'error' ? troubleKey(draft.result) : undefined;
    const before = trouble === undefined ? undefined : troubles.get(trouble);
    const one = { anchor, ...draft, also: [] };
    if (draft.result.failure === undefined) return { ...one, without: 'case' };
    // What stands beside it is told nowhere else.
    if (before !== undefined && draft.result.others === undefined) {
      before.also.push(draft.result.id);
      return { ...one, without: { told: before } };
    }
    if (cards === MOST_CARDS) {
      for (const result of results) listed.add(result);
      return { ...one, without: 'room' };
    }
    cards++;
    if (trouble !== undefined) troubles.set(trouble, one);
    return one;
  };
  const failing = drafts.filter(({ result }) => result.verdict !== 'known');
  const failures = [
    ...failing.filter(({ result }) => result.failure !== undefined),
    ...failing.filter(({ result }) => result.failure === undefined),
  ].map(told);
  const known = drafts.filter(({ result }) => result.verdict === 'known').map(told);
  return {
    failures,
    known,
    anchorOf: (result) => anchors.get(result),
    isOnlyListed: (result) => listed.has(result),
  };
}

/** White space would end an id, and in an address `#` and `%` mean something. Without a stage it could be one of the page's own. */
function anchorName(id: string): string {
  const name = id.replaceAll(/[\s#%]/gu, '-');
  return name.includes('/') ? name : `property/${name}`;
}

/** The same case with the same words is the same failure, whoever has it. */
function keyOf({ id, verdict, reason, failure, others = [] }: PropertyResult): string {
  const words = saidOf(failure) ?? reason;
  return JSON.stringify([id, verdict, failure?.caseId, words, ...others.map(({ caseId }) => caseId)]);
}

/** A known failure whose property is called otherwise now, or events that were cut. */
function unlisted({ id, title, level }: PropertyResult): PropertyFacts {
  return { id, title, level, stage: stageOf(id) as Stage, why: '', catches: [] };
}
