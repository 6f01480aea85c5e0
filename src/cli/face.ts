// The same run for a test runner: the trainer that a folder and an environment mean, one property at a time.
import { resolve } from 'node:path';
import { openCorpus } from '../check/corpus.ts';
import type { PropertyResult } from '../check/events.ts';
import type { Property } from '../check/property.ts';
import { run, strangers } from '../check/run.ts';
import { failureLines } from '../report/failure.ts';
import { PLAIN } from '../report/paint.ts';
import { semanticsWords } from '../report/profile.ts';
import { chosenProperties, DEFAULT_CASES, knownFor } from './chosen.ts';
import { type Context, isProblem, type Problem } from './context.ts';
import { measuredSemantics, openHere } from './open.ts';
import { CASES_FOLDER, replayOf } from './session.ts';
import { commandOf } from './trainer.ts';

export interface Face {
  /** What the configuration's `only` and `level` leave. */
  readonly chosen: ReadonlySet<Property>;
  /** What is listed as known and names no property, one sentence each. */
  readonly strangers: readonly string[];
  check(property: Property, seed: number, cases?: number): Promise<PropertyResult>;
  /** The failure as the terminal shows it, without colour. */
  explain(result: PropertyResult): string;
  stop(): Promise<void>;
}

/** As wide as a test runner's output is usually read. */
const WIDTH = 100;

export async function openFace(
  properties: readonly Property[],
  place: Pick<Context, 'cwd' | 'env'>,
): Promise<Face | Problem> {
  const opened = await openHere(place);
  if (isProblem(opened)) return opened;
  const { plan, trainer, tokenizer } = opened;
  const chosen = chosenProperties({}, plan.loaded, properties);
  const listed = knownFor({}, plan, place.cwd);
  if (isProblem(chosen) || isProblem(listed)) {
    await trainer.stop();
    return isProblem(chosen) ? chosen : (listed as Problem);
  }
  const { known } = listed;
  const catalogue = properties.map(({ id }) => id);
  const measured = await measuredSemantics(opened);
  const words = semanticsWords(measured);
  const config = plan.loaded?.config;
  const corpus = config?.corpus === false ? undefined : openCorpus(resolve(place.cwd, CASES_FOLDER));
  return {
    chosen: new Set(chosen),
    strangers: strangers({ known, catalogue }).map(({ id, reason = '' }) => `${id}: ${reason}`),
    async check(property, seed, cases = config?.cases ?? DEFAULT_CASES) {
      const options = {
        trainer,
        tokenizer,
        properties: [property],
        seed,
        cases,
        command: commandOf(plan.choice),
      };
      const results = await run(
        {
          ...options,
          measured,
          ...(opened.semantics === undefined ? {} : { semantics: opened.semantics }),
          ...(corpus === undefined ? {} : { corpus }),
          known,
        },
        () => undefined,
      );
      const [result] = results;
      if (result === undefined) throw new Error(`${property.id} gave no verdict.`);
      return result;
    },
    explain: (result) =>
      [
        ...failureLines(result, {
          width: WIDTH,
          paint: PLAIN,
          replay: replayOf(plan.choice, place, corpus !== undefined),
        }),
        ...(words === undefined ? [] : [`measured, not declared: ${words}`]),
      ].join('\n'),
    stop: () => trainer.stop(),
  };
}
