// Whose configuration a file is, by the command that it starts, or by the trainer that knows most of its keys.

import { axolotl } from './axolotl/settings.ts';
import type { Problem } from './fault.ts';
import { type ConfigFile, flattened } from './file.ts';
import { knownOf } from './known.ts';
import { llamaFactory } from './llama-factory/settings.ts';
import { msSwift } from './ms-swift/settings.ts';
import { openrlhf } from './openrlhf/settings.ts';
import type { Reader } from './plan.ts';
import { torchtune } from './torchtune/settings.ts';
import { trl } from './trl/settings.ts';
import { verl } from './verl/settings.ts';

const READERS: readonly Reader[] = [trl, llamaFactory, verl, axolotl, openrlhf, msSwift, torchtune];

export function readerOf({ name, values, command }: ConfigFile): Reader | Problem {
  const started = READERS.find(({ known }) => known === command?.launch.known);
  if (started !== undefined) return started;
  // Keys within a part have its name in front.
  const keys = [...new Set([...Object.keys(values), ...Object.keys(flattened(values))])];
  const foreign = FOREIGN.find(
    ({ any, but = [] }) => any.some((key) => keys.includes(key)) && !but.some((key) => keys.includes(key)),
  );
  if (foreign !== undefined)
    return { problem: `${name} is a configuration ${foreign.of}, which view does not read. ${GO_ON}` };
  // Other trainers have `dataset` and `tokenizer`, too, and name no component in them.
  if (keys.some((key) => key.endsWith('._component_'))) return torchtune;
  const scored = READERS.map((reader) => {
    const { keys: own } = knownOf(reader.known);
    return { reader, score: keys.filter((key) => Object.hasOwn(own, key)).length };
  }).sort((left, right) => right.score - left.score);
  const [first, second] = scored;
  if (first === undefined || first.score === 0 || first.score === second?.score)
    return {
      problem: `${name} is not recognised as a configuration of ${READERS.map(({ known }) => knownOf(known).trainer).join(' or ')}. ${GO_ON}`,
    };
  return first.reader;
}

// --- helpers ---

const GO_ON =
  'View its data with --tokenizer, --train-on and --max-length, or look at the rows of a run itself with `lossproof trace`';

/** Only for a sentence that says whose file it is: none of these is read. */
const FOREIGN: readonly {
  readonly of: string;
  readonly any: readonly string[];
  /** Keys that such a file has not. */
  readonly but?: readonly string[];
}[] = [
  // axolotl has an `adapter`, too: lora.
  { of: 'of lossproof itself', any: ['trainers', 'trainer', 'adapter'], but: ['base_model', 'datasets'] },
];
