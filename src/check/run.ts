// One run: every chosen property against one trainer, as a stream of events. Which properties, which trainer
// and what is printed is decided elsewhere.

import { nearestName } from '../protocol/nearest.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { FailureKind } from '../trainer/failure.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { VERSION } from '../version.ts';
import type { Semantics } from '../vocabulary.ts';
import { checkProperty, unseenReason } from './check.ts';
import { NOT_TRIED, type PropertyFacts, type PropertyResult, type RunEvent } from './events.ts';
import type { RunOptions } from './options.ts';
import { NOT_MEASURED } from './profile/measured.ts';
import type { Property, World } from './property.ts';
import { inOrder, notesOf, questionsOf } from './questions/questions.ts';
import { countRequests } from './refusals.ts';
import { supportOf } from './support.ts';

/** Long enough for every shrink measured so far on a torch trainer, short enough to wait for. */
const SHRINK_MILLISECONDS = 60_000;

/** Runs every property and returns the results; `emit` sees each event as it happens. Does not stop the trainer. */
export async function run(
  options: RunOptions,
  emit: (event: RunEvent) => void,
): Promise<readonly PropertyResult[]> {
  const { trainer, seed, semantics, replay, started, strict } = options;
  const { semantics: measured, doubts } = options.measured ?? NOT_MEASURED;
  const world = worldOf(trainer, options.tokenizer, semantics, measured);
  const properties = inOrder(options.properties);
  const questions = questionsOf(
    properties,
    doubts.filter(({ weight }) => strict || weight === 'ask'),
    world,
  );
  const notes = strict ? [] : notesOf(doubts, properties);
  const begun = performance.now();
  emit({
    type: 'run-start',
    seed,
    cases: options.cases,
    hello: trainer.hello,
    command: options.command,
    properties: properties.map(factsOf),
    version: VERSION,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.notRun === undefined ? {} : { notRun: options.notRun }),
    ...(options.bundled ? { bundled: true as const } : {}),
    ...(started === undefined ? {} : { started }),
    ...(semantics === undefined ? {} : { configured: semantics }),
    ...(options.measured === undefined ? {} : { measured }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(replay === undefined ? {} : { replay }),
  });

  const results: PropertyResult[] = [];
  let gone: string | undefined;
  const told = new Map<string, string>();
  const requests = countRequests();
  for (const [index, property] of properties.entries()) {
    emit({ type: 'property-start', id: property.id, index, total: properties.length });
    const unsupported = supportOf(property, world);
    const before = performance.now();
    let result: PropertyResult;
    if (unsupported !== undefined)
      result = judgedOrUnseen(
        questions.instead(property) ?? without(property, 'unsupported', unsupported),
        options,
      );
    else if (gone !== undefined) result = without(property, 'skipped', gone);
    else if (options.signal?.aborted)
      result = without(property, 'interrupted', 'the run was interrupted before it');
    else {
      const checked = await checkProperty(property, world, {
        ...options,
        trainer: requests.counting(trainer, property.id),
        shrinkMilliseconds: options.shrinkMilliseconds ?? SHRINK_MILLISECONDS,
        onProgress: (done) =>
          emit({
            type: 'progress',
            id: property.id,
            done,
            total: Math.min(options.cases, property.mostCases ?? options.cases),
          }),
        onShrink: (shrinks) => emit({ type: 'shrinking', id: property.id, shrinks }),
        told,
        requests,
      });
      result = questions.judged(property, judgedOrUnseen(checked, options));
      const all = [result.failure, ...(result.others ?? [])];
      if (all.some((failure) => GONE.includes(failure?.trainerFailure?.kind)))
        gone = 'the trainer can no longer be started';
    }
    result = { ...result, milliseconds: performance.now() - before };
    results.push(result);
    emit({ type: 'property-end', result });
  }
  for (const result of strangers(options)) {
    results.push(result);
    emit({ type: 'property-end', result });
  }
  const refusals = requests.refusals(results);
  emit({
    type: 'run-end',
    interrupted: options.signal?.aborted === true,
    milliseconds: performance.now() - begun,
    ...(refusals.length === 0 ? {} : { refusals }),
  });
  return results;
}

const GONE: readonly (FailureKind | undefined)[] = ['budget', 'start'];

function factsOf({ id, title, stage, level, why, catches }: Property): PropertyFacts {
  return { id, title, stage, level, why, catches };
}

/** What generators and checks may know of a trainer; the configuration's semantics win over declared ones, and those over measured ones. */
export function worldOf(
  { hello }: Trainer,
  tokenizer: Tokenizer | undefined,
  semantics?: Semantics,
  measured?: Semantics,
): World {
  return {
    hello,
    semantics: { ...measured, ...hello.semantics, ...semantics },
    tokenizer,
    ...(measured === undefined ? {} : { measured }),
  };
}

/** A known failure of a property that judged no case is no longer watched; of a trainer that is gone nothing is said. */
function judgedOrUnseen(result: PropertyResult, { known }: RunOptions): PropertyResult {
  const entry = known?.[result.id];
  if (entry === undefined || entry.bundled || !['unsupported', 'skipped'].includes(result.verdict))
    return result;
  return { ...result, verdict: 'unseen', reason: unseenReason(entry, result.reason ?? 'no case ran') };
}

/** Known failures of properties that do not exist: misspelt, or renamed since. */
export function strangers({
  known = {},
  catalogue,
}: Pick<RunOptions, 'known' | 'catalogue'>): PropertyResult[] {
  if (catalogue === undefined) return [];
  return Object.entries(known)
    .filter(([id, entry]) => !catalogue.includes(id) && entry.bundled === undefined)
    .map(([id, entry]) => {
      const near = nearestName(id, catalogue);
      const hint = near === undefined ? '' : `; did you mean "${near}"?`;
      const reason = unseenReason(entry, `no property is called so${hint}`);
      return { id, title: entry.reason, level: 'must', verdict: 'unseen', reason, ...NOT_TRIED };
    });
}

function without(
  property: Property,
  verdict: 'unsupported' | 'skipped' | 'interrupted',
  reason: string,
): PropertyResult {
  const { id, title, level } = property;
  return { id, title, level, verdict, reason, ...NOT_TRIED };
}
