// Two hundred rows that say "holds" hide the one that does not. What holds becomes one row per stage, printed as the
// stage ends; what was not judged becomes one row a reason, behind the table; all else has a row of its own at once.
import type { PropertyFacts, PropertyResult } from '../check/events.ts';
import { NO_OP } from '../check/support.ts';
import type { Level, Verdict } from '../vocabulary.ts';
import { stageOf } from './runs.ts';
import { belowRow, casesOf, lineOf, rowLines, type TableOptions, warningsOf } from './text/table.ts';
import { harmless } from './text/visible.ts';

export interface Table {
  /** Lines that can be printed now that this property has ended. */
  add(result: PropertyResult): string[];
  /** Those that are left at the end. */
  end(): string[];
}

/** A row for every property, as it ends. */
export function wholeTable(options: TableOptions): Table {
  return { add: (result) => rowLines(result, options), end: () => [] };
}

/**
 * `each`: what holds has its own rows, too; only what was not judged is told by reason. `judgedOnly`: that has been told
 * already, and is left out.
 */
export function foldedTable(
  properties: readonly Pick<PropertyFacts, 'id' | 'level'>[],
  given: TableOptions & { readonly each?: boolean; readonly judgedOnly?: boolean },
): Table {
  let holding: PropertyResult[] = [];
  const notJudged: PropertyResult[] = [];
  const sizes = countBy(properties, groupOf);
  const names = given.each ? [] : [...sizes].map(([key, size]) => nameOf(key, size - 1, size, given));
  const options = { ...given, ids: [...given.ids, ...names] };
  // Several trainers side by side judge properties of several stages at a time: a stage is over when all of it is.
  const open = countBy(properties, ({ id }) => stageOf(id));

  const flush = (isOver: (stage: string) => boolean): string[] => {
    const over = holding.filter(({ id }) => isOver(stageOf(id)));
    holding = holding.filter((result) => !over.includes(result));
    return groupBy(over, groupOf).flatMap((group) =>
      holdingLines(group, sizes.get(groupOf(group[0])) ?? 0, options),
    );
  };
  return {
    add(result) {
      const stage = stageOf(result.id);
      open.set(stage, (open.get(stage) ?? 0) - 1);
      const own: string[] = [];
      if (options.each !== true && isSilent(result)) holding.push(result);
      else if (!isNotJudged(result)) own.push(...rowLines(result, options));
      else if (given.judgedOnly !== true) notJudged.push(result);
      return [...own, ...flush((each) => (open.get(each) ?? 0) <= 0)];
    },
    end() {
      const reasons = groupBy(notJudged, reasonOf);
      const order = (group: Group): number => NOT_JUDGED.indexOf(group[0].verdict);
      return [
        ...flush(() => true),
        ...reasons.sort((a, b) => order(a) - order(b)).flatMap((group) => reasonLines(group, options)),
      ];
    },
  };
}

/** Told last what is told of most: the ops that the adapter does not have. */
const NOT_JUDGED: readonly Verdict[] = ['skipped', 'unsupported', 'interrupted'];

/** It holds, and there is nothing else to be said. */
function isSilent(result: PropertyResult): boolean {
  const { verdict, fixed, outdated = [] } = result;
  return verdict === 'pass' && fixed.length + outdated.length === 0 && warningsOf(result).length === 0;
}

/** One that was interrupted in the middle, or has something to say of a saved case, is told by itself. */
function isNotJudged({ verdict, cases, fixed, outdated = [] }: PropertyResult): boolean {
  if (fixed.length + outdated.length > 0) return false;
  return verdict === 'interrupted' ? cases === 0 : NOT_JUDGED.includes(verdict);
}

type Group = readonly [PropertyResult, ...PropertyResult[]];

function holdingLines(group: Group, size: number, options: TableOptions): string[] {
  const [first] = group;
  if (group.length === 1) return rowLines(first, options);
  const sum = (count: (result: PropertyResult) => number): number =>
    group.reduce((total, result) => total + count(result), 0);
  const rest = casesOf({
    cases: sum(({ cases }) => cases),
    rejected: sum(({ rejected }) => rejected),
    setAside: sum(({ setAside }) => setAside),
  });
  return lineOf(
    { verdict: 'pass', name: nameOf(groupOf(first), group.length, size, options), level: first.level, rest },
    options,
  );
}

/** `mask/ (9 of 13 properties)`. */
function nameOf(
  key: string,
  count: number,
  size: number,
  { many = PROPERTIES }: Pick<TableOptions, 'many'>,
): string {
  return `${key.split('\n')[0]}/ (${count === size ? size : `${count} of ${size}`} ${many})`;
}

function reasonLines(group: Group, options: TableOptions): string[] {
  const [first] = group;
  const stages = [...new Set(group.map(({ id }) => stageOf(id)))];
  const places = stages.length <= FEW_STAGES ? stages.map((stage) => `${stage}/`).join(', ') : undefined;
  const many = `${places ?? `${stages.length} stages`} (${group.length} ${options.many ?? PROPERTIES})`;
  const levels = new Set<Level>(group.map(({ level }) => level));
  const reason = first.reason ?? '';
  return [
    ...lineOf(
      {
        verdict: first.verdict,
        name: group.length === 1 ? first.id : many,
        level: levels.size === 1 ? first.level : '',
        rest: reason.startsWith(NO_OP) ? missingOps(group) : reason,
      },
      options,
    ),
    ...(first.verdict === 'interrupted' && group.length > 1 ? namedBelow(group, options) : []),
  ];
}

/** What had no turn could have had one: whoever reads this asks which, and not only how many. */
function namedBelow(group: Group, options: TableOptions): string[] {
  const ids = group.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = group.length - ids.length;
  return belowRow(harmless(ids.join(', ') + (more > 0 ? ` and ${more} more: --rows` : '')), options);
}

const MOST_NAMED = 20;

const PROPERTIES = 'properties';
/** More stages are counted, not named. */
const FEW_STAGES = 2;

/** "the adapter has no op `kl`, `logprobs`": each op once; many are counted. */
function missingOps(group: Group): string {
  const ops = [...new Set(group.flatMap(({ reason = '' }) => reason.slice(NO_OP.length).split(', ')))];
  return ops.length <= MOST_OPS
    ? NO_OP + ops.join(', ')
    : `they need ${ops.length} ops that the adapter does not have: lossproof doctor lists them`;
}

const MOST_OPS = 4;

function reasonOf({ verdict, reason = '' }: PropertyResult): string {
  return `${verdict}\n${reason.startsWith(NO_OP) ? NO_OP : reason}`;
}

function groupOf({ id, level }: Pick<PropertyFacts, 'id' | 'level'>): string {
  return `${stageOf(id)}\n${level}`;
}

function groupBy(results: readonly PropertyResult[], keyOf: (result: PropertyResult) => string): Group[] {
  const groups = new Map<string, [PropertyResult, ...PropertyResult[]]>();
  for (const result of results) {
    const group = groups.get(keyOf(result));
    if (group === undefined) groups.set(keyOf(result), [result]);
    else group.push(result);
  }
  return [...groups.values()];
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}
