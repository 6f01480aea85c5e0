// A run of `mutate` as text: what became of the changes, each that survives with what would find it, and what no op reaches.
import type { Change } from '../../mutate/change.ts';
import { type Judged, type Mutation, type Score, scoreOf } from '../../mutate/events.ts';
import { hintsOf, type UnreachedFunction, unreachedOf } from '../../mutate/hints.ts';
import { OPS } from '../../protocol/message.ts';
import type { Paint } from '../text/paint.ts';
import { plural } from '../text/plural.ts';
import { harmless, wrap } from '../text/visible.ts';

export interface MutatePrint {
  readonly width: number;
  readonly paint: Paint;
}

export interface Survivor {
  readonly change: Change;
  readonly judged: Judged;
  /** `my_trainer.py:27`. */
  readonly place: string;
  readonly hints: readonly string[];
}

/** `38 changes: 31 found (2 by an error), 4 in code that no op reaches, 3 survive`. */
export function scoreLine(mutation: Mutation): string {
  const { changes, found, byError, unreached, survive, alike, untried, left } = scoreOf(mutation);
  const parts = [
    `${found.toLocaleString('en')} found${byError > 0 ? ` (${byError.toLocaleString('en')} by an error)` : ''}`,
    ...(unreached > 0 ? [`${unreached.toLocaleString('en')} in code that no op reaches`] : []),
    `${survive.toLocaleString('en')} ${survive === 1 ? 'survives' : 'survive'}${alike > 0 ? ` (${alike.toLocaleString('en')} ${alike === 1 ? 'changes' : 'change'} no answer)` : ''}`,
    ...(untried > 0 ? [`${untried.toLocaleString('en')} could not be tried`] : []),
    ...(left > 0 ? [`${left.toLocaleString('en')} not yet tried`] : []),
  ];
  return `${plural(changes, 'change')}: ${parts.join(', ')}`;
}

/** Of the changes that were tried and are reached, the share that was found; undefined where there is none. */
export function shareFound({ found, survive }: Pick<Score, 'found' | 'survive'>): number | undefined {
  return found + survive === 0 ? undefined : found / (found + survive);
}

export function mutateLines(mutation: Mutation, print: MutatePrint): readonly string[] {
  const { paint, width } = print;
  const survivors = survivorsOf(mutation);
  const unreached = unreachedFunctions(mutation);
  return [
    ...survivors.flatMap((survivor) => ['', ...survivorLines(survivor, print)]),
    ...(unreached.length === 0 ? [] : ['', paint.bold('In code that no op reaches')]),
    ...unreached.flatMap((each) => wrap(harmless(`  ${unreachedSentence(each)}`), width)),
    ...untriedLines(mutation, print),
    '',
    ...wrap(scoreLine(mutation), width).map(paint.bold),
  ];
}

/** In the order of the files. */
export function survivorsOf({ start, judged }: Mutation): readonly Survivor[] {
  const survived = new Map(
    judged.filter(({ outcome }) => outcome === 'survives').map((each) => [each.id, each]),
  );
  return start.changes.flatMap((change) => {
    const own = survived.get(change.id);
    if (own === undefined) return [];
    const place = `${start.files[change.file]?.shown ?? ''}:${change.line}`;
    return [{ change, judged: own, place, hints: hintsOf(own, start) }];
  });
}

export function unreachedFunctions(mutation: Mutation): readonly UnreachedFunction[] {
  return unreachedOf(mutation, Object.keys(OPS));
}

/** `my_trainer.py  entropy_of: 3 changes. Op `entropy` may be the one that would reach it.` */
export function unreachedSentence({ file, function: name, changes, op }: UnreachedFunction): string {
  const what = `${file}  ${name === '' ? 'the top of the file' : name}: ${plural(changes, 'change')}.`;
  return op === undefined
    ? what
    : `${what} By its name, op \`${op}\` would reach it, which the adapter does not have.`;
}

/** `under op loss, in token_loss`. */
export function underOf({ change, judged: { ops = [] } }: Survivor): string {
  const under = ops.length === 0 ? 'while it is imported' : `under ${ops.join(', ')}`;
  return change.function === '' ? under : `${under}, in ${change.function}`;
}

function survivorLines(survivor: Survivor, { width, paint }: MutatePrint): readonly string[] {
  const { change, place, hints } = survivor;
  const diff = (sign: string, text: string): string[] =>
    harmless(text)
      .split('\n')
      .map((line) => `  ${sign} ${line}`);
  return [
    `${paint.orange('◇')} ${paint.bold(harmless(place))}  ${change.kind} ${paint.dim(harmless(`(${underOf(survivor)})`))}`,
    ...diff('-', change.before).map(paint.dim),
    ...diff('+', change.after),
    ...hints.flatMap((hint) => wrap(harmless(`    ${hint}`), width)),
  ];
}

function untriedLines({ judged }: Mutation, { width, paint }: MutatePrint): readonly string[] {
  const reasons = new Map<string, number>();
  for (const { outcome, reason = '' } of judged)
    if (outcome === 'untried') reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  if (reasons.size === 0) return [];
  return [
    '',
    paint.bold('Could not be tried'),
    ...[...reasons].flatMap(([reason, count]) =>
      wrap(harmless(`  ${plural(count, 'change')}: ${reason}`), width),
    ),
  ];
}
