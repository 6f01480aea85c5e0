// One run: every chosen property against one trainer, or several like it side by side, as a stream of events. Which
// properties, which trainer and what is printed is decided elsewhere.

import { createHash } from 'node:crypto';
import { bound } from '../bounds.ts';
import { onOneLine } from '../outside/text.ts';
import { nearestName } from '../protocol/nearest.ts';
import { shown } from '../protocol/result.ts';
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import { tellStrays } from '../trainer/processes/strays.ts';
import { renewedIn } from '../trainer/renewal.ts';
import { sharedAnswers } from '../trainer/shared-answers.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { VERSION } from '../version.ts';
import { FAILING, type Semantics } from '../vocabulary.ts';
import { checkProperty, unseenReason } from './check.ts';
import {
  NOT_TRIED,
  type PropertyFacts,
  type PropertyResult,
  type RunEvent,
  type RunStart,
} from './events.ts';
import type { RunOptions, Workers } from './options.ts';
import { dealtTo, longestFirst, mostTellingFirst, queueOf, workOf } from './parallel/deal.ts';
import { judgeAll } from './parallel/lanes.ts';
import { settling } from './parallel/settle.ts';
import { NOT_MEASURED } from './profile/measured.ts';
import type { Property, World } from './property.ts';
import { knownAfterAll } from './questions/own.ts';
import { inOrder, notesOf, type Questions, questionsOf } from './questions/questions.ts';
import { countRequests, lacksOf } from './refusals.ts';
import { stopOf } from './stop.ts';
import { supportOf } from './support.ts';

/** Long enough for every shrink measured so far on a torch trainer, short enough to wait for. */
const SHRINK_MILLISECONDS = bound({
  of: 'making the first failure of a property smaller',
  wall: 60_000,
  over: 'the smallest case so far is shown; the verdict stays',
  option: '--shrink-time',
});

/** Runs every property and returns the results; `emit` sees each event as it happens. Does not stop the trainer. */
export async function run(
  options: RunOptions,
  emit: (event: RunEvent) => void,
): Promise<readonly PropertyResult[]> {
  const { trainer, kept = [] } = options;
  const { properties, world, questions, work, start } = prepared(options);
  const begun = performance.now();
  const stop = stopOf(options);
  emit(start);

  const results: PropertyResult[] = [];
  // A part of a run cannot know the others: what they make of it is told when they are merged.
  const settle = settling(options.shard === undefined ? properties.map(factsOf) : []);
  /** Of this process, results that were kept included. */
  const spent = (): number =>
    performance.now() - begun + kept.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const end = (ended: readonly PropertyResult[], how: { readonly kept?: true } = {}): void => {
    for (const result of ended) {
      results.push(result);
      emit({ type: 'property-end', result, ...how });
      // What failed before is why a run is gone on with, not why it ends again.
      if (how.kept !== true && FAILING.includes(result.verdict)) stop.failed();
    }
  };
  const noticed = new Set<string>();
  const notice = (sentence: string): void => {
    if (noticed.has(sentence)) return;
    noticed.add(sentence);
    emit({ type: 'notice', sentence });
  };
  for (const note of (trainer.hello.notes ?? []).slice(0, MOST_NOTES)) notice(onOneLine(note, MOST_NOTE));
  if (options.workers?.fewer !== undefined) notice(options.workers.fewer);
  for (const sentence of notRead(options)) notice(sentence);
  for (const result of kept) end(settle.add(result), { kept: true });

  const trainers = [trainer];
  const told = new Map<string, string>();
  const requests = options.requests ?? countRequests();
  const answers = sharedAnswers();
  const judge = async (property: Property, own: Trainer | undefined): Promise<PropertyResult> => {
    const unsupported = supportOf(property, world);
    const check = (asked: Trainer, how: RunOptions, within: World): Promise<PropertyResult> =>
      checkProperty(property, within, {
        ...how,
        signal: stop.signal,
        trainer: requests.counting(asked, property.id),
        sharing: requests.counting(answers.of(asked), property.id),
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
        onNotice: notice,
      });
    if (unsupported !== undefined) {
      // Nothing is saved of what only tells whether there is a question.
      const { corpus: _, known: __, ...unsaved } = options;
      const asked =
        questions.instead(property) ??
        (own === undefined || stop.signal.aborted
          ? undefined
          : await knownAfterAll(property, world, (bare) =>
              check(own, { ...unsaved, verdictOnly: true }, bare),
            ));
      return judgedOrUnseen(asked ?? without(property, 'unsupported', unsupported), options);
    }
    if (own === undefined) return without(property, 'skipped', 'the trainer can no longer be started');
    if (stop.signal.aborted) return without(property, 'interrupted', stop.reason(false));
    const checked = await check(own, options, world);
    const judged = questions.asked(property, judgedOrUnseen(checked, options));
    return judged.verdict === 'interrupted' ? { ...judged, reason: stop.reason(true) } : judged;
  };

  const isKept = new Set(kept.map(({ id }) => id));
  const waiting = properties.filter(({ id }) => !isKept.has(id));
  const known = { work, costs: options.costs, cases: options.cases };
  await judgeAll({
    queue:
      options.mostMilliseconds !== undefined
        ? queueOf(mostTellingFirst(waiting, known))
        : options.workers === undefined
          ? queueOf(waiting)
          : longestFirst(waiting, known),
    first: trainer,
    workers: options.workers === undefined ? undefined : joining(trainers, options.workers),
    onStart: ({ id }) => {
      const index = properties.findIndex((property) => property.id === id);
      emit({ type: 'property-start', id, index, total: properties.length });
    },
    judge: async (property, own) => {
      const before = performance.now();
      const result = await judge(property, own);
      return { ...result, milliseconds: performance.now() - before };
    },
    onEnd: (result) => end(settle.add(result)),
    onNotice: notice,
  });
  end(settle.rest());
  if ((options.shard?.index ?? 1) === 1) end(strangers(options));
  const stopped = results.some(({ verdict }) => verdict === 'interrupted') ? stop.why() : undefined;
  const whole = options.shard === undefined;
  const strays = tellStrays();
  if (strays !== undefined) emit({ type: 'notice', sentence: strays });
  emit({
    type: 'run-end',
    interrupted: options.signal?.aborted === true,
    milliseconds: spent(),
    ...(stopped === undefined ? {} : { stopped }),
    ...(whole ? lacksOf(requests.tally, results, trainer.hello) : { tally: requests.tally }),
    ...renewedIn(trainers.flatMap((each) => each.renewals?.() ?? [])),
  });
  return results;
}

/** The same workers; whom they start is added. */
function joining(trainers: Trainer[], workers: Workers): Workers {
  return {
    ...workers,
    async start(number) {
      const started = await workers.start(number);
      if ('trainer' in started) trainers.push(started.trainer);
      return started;
    },
  };
}

function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, FINGERPRINT_LENGTH);
}

/** Two that are told apart by accident would have to be one of 2 to the 64. */
const FINGERPRINT_LENGTH = 16;

/** What a run begins with, before anything is asked: whether it may go on with another is read off it. */
export function startOf(options: RunOptions): RunStart {
  return prepared(options).start;
}

interface Prepared {
  /** In their order; of this part of the run. */
  readonly properties: readonly Property[];
  readonly world: World;
  readonly questions: Questions;
  readonly work: (property: Property) => number;
  readonly start: RunStart;
}

function prepared(options: RunOptions): Prepared {
  const { trainer, seed, semantics, replay, shard, started, strict } = options;
  const { semantics: measured, doubts } = options.measured ?? NOT_MEASURED;
  const world = worldOf(trainer, options.tokenizer, semantics, measured);
  const whole = inOrder(options.properties);
  const work = (property: Property): number => workOf(property, options.cases, trainer.hello.ops);
  const properties = shard === undefined ? whole : dealtTo(shard, whole, work);
  const questions = questionsOf(
    whole,
    doubts.filter(({ weight }) => strict || weight === 'ask'),
    world,
  );
  const notes = strict ? [] : notesOf(doubts, whole);
  const places = (): number[] => properties.map((property) => whole.indexOf(property));
  const start: RunStart = {
    type: 'run-start',
    seed,
    cases: options.cases,
    hello: trainer.hello,
    command: options.command,
    properties: properties.map(factsOf),
    version: VERSION,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.notRun === undefined ? {} : { notRun: options.notRun }),
    ...(options.bundled ? { bundled: true } : {}),
    ...(started === undefined ? {} : { started }),
    ...(semantics === undefined ? {} : { configured: semantics }),
    ...(options.measured === undefined ? {} : { measured }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(replay === undefined ? {} : { replay }),
    ...(shard === undefined ? {} : { shard: { ...shard, total: whole.length, places: places() } }),
    asked: {
      properties: fingerprint(whole.map(({ id }) => id)),
      known: fingerprint(options.known ?? {}),
      strict: strict === true,
    },
    ...(options.kept === undefined ? {} : { resumed: true }),
  };
  return { properties, world, questions, work, start };
}

export function factsOf({ id, title, stage, level, why, catches, ops, settles }: Property): PropertyFacts {
  return { id, title, stage, level, why, catches, ops, ...(settles === undefined ? {} : { settles }) };
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
    semantics: unbounded({ ...measured, ...hello.semantics, ...semantics }),
    tokenizer,
    ...(measured === undefined ? {} : { measured }),
  };
}

/** A side that is declared not to be clipped is computed with as one that is clipped nowhere. */
function unbounded(semantics: Semantics): Semantics {
  const open = (['clip_low', 'clip_high'] as const).filter((side) => semantics[side] === null);
  return { ...semantics, ...Object.fromEntries(open.map((side) => [side, Number.POSITIVE_INFINITY])) };
}

/** A known failure of a property that judged no case is no longer watched; of a trainer that is gone nothing is said. */
function judgedOrUnseen(result: PropertyResult, { known }: RunOptions): PropertyResult {
  const entry = known?.[result.id];
  if (entry === undefined || entry.bundled || !['unsupported', 'skipped'].includes(result.verdict))
    return result;
  return { ...result, verdict: 'unseen', reason: unseenReason(entry, result.reason ?? 'no case ran') };
}

/** Saved cases that no property of this run or any other is given, a sentence each; the first of very many. */
function notRead({ corpus, catalogue }: RunOptions): readonly string[] {
  if (corpus === undefined) return [];
  const strange = corpus
    .saved()
    .filter(({ property }) => catalogue !== undefined && !catalogue.includes(property))
    .map(
      ({ id, property }) => `${id}.json is a case of ${shown(property)}, which this version does not have`,
    );
  const all = [...corpus.unreadable(), ...strange];
  const more = all.length - MOST_NOT_READ;
  return [
    ...all.slice(0, MOST_NOT_READ).map((said) => `Saved case not run: ${corpus.folder}/${said}.`),
    ...(more > 0 ? [`${more} more files in ${corpus.folder} are no cases that can be run.`] : []),
  ];
}

const MOST_NOT_READ = 5;

/** Of what a trainer has to say of itself, and how long each may be. */
const MOST_NOTES = 5;
const MOST_NOTE = 300;

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
