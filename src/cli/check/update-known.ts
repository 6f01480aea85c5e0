// What a run of `check` means for the file of known failures: which entries it left out, and the file rewritten.
import { relative } from 'node:path';
import type { PropertyResult } from '../../check/events.ts';
import type { Property } from '../../check/property.ts';
import { knownText } from '../../check/saved/known.ts';
import { updateKnown } from '../../check/saved/known-update.ts';
import type { Hello } from '../../protocol/message.ts';
import { plural } from '../../report/text/plural.ts';
import { type Context, say } from '../context.ts';
import { writeWhole } from '../outputs/written.ts';
import type { ChosenKnown } from './chosen.ts';

export interface ChosenRun {
  readonly properties: readonly Property[];
  /** As named, and left out for their level. */
  readonly leftOut: readonly Property[];
  readonly seed: number;
  readonly known: ChosenKnown;
  /** Ids of every property there is. */
  readonly catalogue: readonly string[];
}

/** Entries of the user's that no chosen property is about. */
export function leftOutOf({ known, properties, catalogue }: ChosenRun): string[] {
  const ids = new Set(properties.map(({ id }) => id));
  return Object.keys(known.own).filter((id) => catalogue.includes(id) && !ids.has(id));
}

/** `--update-known`: the results as they count once the file says what the run found. */
export function rewriteKnown(
  results: readonly PropertyResult[],
  { known: { of, own, file = '' }, catalogue }: ChosenRun,
  hello: Hello,
  interrupted: boolean,
  context: Context,
): readonly PropertyResult[] {
  const name = relative(context.cwd, file);
  if (interrupted) {
    say(context, `${name} is left as it is: a run that was cut short has not seen everything`);
    return results;
  }
  const update = updateKnown(own, of(hello), results, catalogue);
  if (update.changes.length === 0) {
    say(context, `${name} says all of this already`);
    return update.results;
  }
  const why = writeWhole(file, knownText(update.known));
  if (why !== undefined) {
    context.err.write(`lossproof: ${name} ${why}\n`);
    return results;
  }
  const held = plural(Object.keys(update.known).length, 'known failure');
  say(context, ...update.changes, `${name} now holds ${held}`);
  return update.results;
}
