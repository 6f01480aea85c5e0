// One verdict on several properties, for a matcher: they hold, one of them is broken, or nothing is known. What was
// asked for and not checked is never a success, whichever way the test is put.
import { resolve } from 'node:path';
import type { PropertyResult } from '../../check/events.ts';
import type { Property } from '../../check/property.ts';
import { strangers } from '../../check/run.ts';
import { type KnownFailures, readKnown } from '../../check/saved/known.ts';
import type { StopSignal } from '../../check/stop.ts';
import { blocksOf } from '../../report/failure/blocks.ts';
import { semanticsWords } from '../../report/profile.ts';
import { PLAIN } from '../../report/text/paint.ts';
import { LOOKS } from '../../report/verdict.ts';
import { FAILING, type Level, type Verdict } from '../../vocabulary.ts';
import { selectProperties, splitNames } from '../check/select.ts';
import { isProblem, type Problem } from '../context.ts';
import { judge, type Setting } from './setting.ts';

export interface HoldOptions {
  /** Cases per property. Default: the configuration's where the trainer was opened with one, else 100. */
  readonly cases?: number;
  /** Default: LOSSPROOF_SEED of the environment, else a new one each time; a failure says it. */
  readonly seed?: number;
  /** The highest level to check. Default: `must`, and whatever is named by its whole id. */
  readonly level?: Level;
  /** Failures that are lived with: what such a file holds, or its path. Default: the configuration's. */
  readonly known?: KnownFailures | string;
  /** What is legal and often not meant fails as well, until it is declared. Default: false. */
  readonly strict?: boolean;
  /** The longest time for making one failure smaller. Default: what the timeout of the test leaves, 60 at most. */
  readonly shrinkSeconds?: number;
}

/** `unclear`: an error of the trainer, too little tried, nothing judged, or names that fit nothing. */
export interface Held {
  readonly kind: 'holds' | 'broken' | 'unclear';
  /** For the user, several lines. */
  readonly words: string;
}

export interface Asked {
  readonly catalogue: readonly Property[];
  /** Names as on the command line, and properties themselves; undefined: all of the level. */
  readonly what: readonly (string | Property)[] | undefined;
  readonly seed: number;
  /** Failures are kept, and kept ones run first, where the setting has a place for them. */
  readonly keep: boolean;
  /** What to type to see a failure again where nothing was saved. Default: vitest with the seed. */
  readonly again?: ((seed: number) => string) | undefined;
  /** Aborted when the time of the test is nearly over. */
  readonly signal?: StopSignal;
}

/** Checks what is asked for against the trainer of a setting. Does not stop the trainer. */
export async function hold(setting: Setting, asked: Asked, options: HoldOptions): Promise<Held> {
  const groups = groupsOf(asked, options.level);
  const known = knownOf(options.known);
  if (isProblem(groups)) return unclear(groups);
  if (known !== undefined && isProblem(known)) return unclear(known as Problem);
  const chosen = [...new Set(groups.flatMap((group) => group.properties))];
  const judging = {
    ...asked,
    cases: options.cases,
    known: known as KnownFailures | undefined,
    strict: options.strict,
    shrinkMilliseconds: options.shrinkSeconds === undefined ? undefined : options.shrinkSeconds * 1_000,
  };
  // `replay` knows the catalogue only: a saved case of a user's own property could not be seen again.
  const [shipped, own] = [true, false].map((ours) =>
    chosen.filter((property) => asked.catalogue.includes(property) === ours),
  ) as [Property[], Property[]];
  const results = [
    ...(await judge(setting, shipped, { ...judging, corpus: asked.keep ? setting.corpus : undefined })),
    ...(await judge(setting, own, judging)),
    ...strangersOf(known as KnownFailures | undefined, [...asked.catalogue, ...own]),
  ];
  const shown = {
    seed: asked.seed,
    catalogue: new Set(shipped.map(({ id }) => id)),
    saved: asked.keep && setting.corpus !== undefined,
    ...(asked.again === undefined ? {} : { again: asked.again(asked.seed) }),
  };
  return heldOf(groups, results, setting, options.cases ?? setting.cases, shown);
}

interface Group {
  readonly name: string;
  readonly properties: readonly Property[];
}

/** One group for each thing that was named; each must be judged. */
function groupsOf({ catalogue, what }: Asked, level: Level | undefined): readonly Group[] | Problem {
  if (what === undefined) {
    const properties = selectProperties(catalogue, [], level);
    return isProblem(properties) ? properties : [{ name: 'the catalogue', properties }];
  }
  const names = what.flatMap<string | Property>((each) =>
    typeof each === 'string' ? splitNames([each]) : [each],
  );
  if (names.length === 0) return { problem: 'no property is named' };
  const groups: Group[] = [];
  for (const name of names) {
    if (typeof name !== 'string') {
      groups.push({ name: name.id, properties: [name] });
      continue;
    }
    const properties = selectProperties(catalogue, [name], level);
    if (isProblem(properties)) return properties;
    groups.push({ name, properties });
  }
  return groups;
}

function knownOf(known: HoldOptions['known']): KnownFailures | Problem | undefined {
  if (typeof known !== 'string') return known;
  const read = readKnown(resolve(known));
  return 'problem' in read ? read : read.known;
}

function strangersOf(known: KnownFailures | undefined, all: readonly Property[]): readonly PropertyResult[] {
  return known === undefined ? [] : strangers({ known, catalogue: all.map(({ id }) => id) });
}

const unclear = ({ problem }: Problem): Held => ({ kind: 'unclear', words: problem });

/** Verdicts that a case stands behind. */
export const JUDGED: readonly Verdict[] = [
  'pass',
  'known',
  'fail',
  'error',
  'ask',
  'thin',
  'changed',
  'stale',
];

async function heldOf(
  groups: readonly Group[],
  results: readonly PropertyResult[],
  setting: Setting,
  cases: number,
  shown: Shown,
): Promise<Held> {
  const byId = new Map(results.map((result) => [result.id, result]));
  const failing = results.filter(({ verdict }) => FAILING.includes(verdict));
  const broken = failing.some(({ failure }) => failure?.finding !== undefined);
  const unjudged = groups.filter(
    ({ properties }) => !properties.some(({ id }) => JUDGED.includes(byId.get(id)?.verdict ?? 'skipped')),
  );
  const judged = results.filter(({ verdict }) => JUDGED.includes(verdict));
  const { name } = setting.trainer.hello;
  const facts = `${name} · seed ${shown.seed} · ${cases} cases per property`;
  if (failing.length === 0 && unjudged.length === 0) {
    const ids = judged.map(({ id, verdict }) => `  ${LOOKS[verdict].glyph} ${id}`);
    return { kind: 'holds', words: [`${facts} · all hold`, ...ids].join('\n') };
  }
  const counted = `${failing.length} of ${judged.length} ${failing.length === 1 ? 'does' : 'do'} not hold`;
  const nothing = unjudged.map((group) => `Nothing was checked of ${group.name}: ${whyNot(group, byId)}`);
  return {
    kind: broken ? 'broken' : 'unclear',
    words: [
      failing.length === 0 ? facts : `${facts} · ${counted}`,
      ...nothing,
      ...(failing.length === 0 ? [] : ['', await blockText(failing, setting, shown)]),
    ].join('\n'),
  };
}

/** The reasons, the most common first. */
function whyNot({ properties }: Group, byId: ReadonlyMap<string, PropertyResult>): string {
  const counts = new Map<string, number>();
  for (const { id } of properties) {
    const result = byId.get(id);
    const why =
      result === undefined ? 'it did not run' : `${LOOKS[result.verdict].word}: ${result.reason ?? ''}`;
    counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([why]) => why)
    .join('; ');
}

/** As wide as a test runner's output is usually read. */
const WIDTH = 100;

export interface Shown {
  readonly seed: number;
  /** Properties of the catalogue: `replay` and `explain` know no others. */
  readonly catalogue: ReadonlySet<string>;
  /** Their failures were saved. */
  readonly saved: boolean;
  /** What to type to see them again where nothing was saved. */
  readonly again?: string;
}

/** Results that do not hold, as the terminal shows them, without colour. */
export async function blockText(
  results: readonly PropertyResult[],
  setting: Setting,
  { seed, catalogue, saved, again = `LOSSPROOF_SEED=${seed} npx vitest run` }: Shown,
): Promise<string> {
  const { command } = setting.replay;
  const unsaved = { command, again };
  // What was measured for the run; nothing is measured for these words.
  const words = semanticsWords((await setting.measured(AbortSignal.abort())).semantics);
  const blocks = blocksOf(results, ({ id }) => {
    const explained = catalogue.has(id);
    return { width: WIDTH, paint: PLAIN, replay: saved && explained ? setting.replay : unsaved, explained };
  }).map((lines) => lines.join('\n'));
  return [...blocks, ...(words === undefined ? [] : [`measured, not declared: ${words}`])].join('\n\n');
}
