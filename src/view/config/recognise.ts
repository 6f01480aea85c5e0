// Whose configuration a file is, by keys that one trainer knows and the others do not.

import type { Problem } from './fault.ts';
import type { ConfigFile } from './file.ts';
import { knownOf } from './known.ts';
import { llamaFactory } from './llama-factory/settings.ts';
import type { Reader } from './plan.ts';
import { trl } from './trl/settings.ts';

const READERS: readonly Reader[] = [trl, llamaFactory];

export function readerOf({ name, values }: ConfigFile): Reader | Problem {
  const keys = Object.keys(values);
  const foreign = FOREIGN.find(({ any }) => any.some((key) => keys.includes(key)));
  if (foreign !== undefined)
    return { problem: `${name} is a configuration ${foreign.of}, which view does not read. ${GO_ON}` };
  const scored = READERS.map((reader) => {
    const { keys: own } = knownOf(reader.known);
    const others = READERS.filter((each) => each !== reader).map((each) => knownOf(each.known).keys);
    const telling = keys.filter(
      (key) => Object.hasOwn(own, key) && !others.some((other) => Object.hasOwn(other, key)),
    );
    return { reader, score: telling.length };
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
const FOREIGN: readonly { readonly of: string; readonly any: readonly string[] }[] = [
  { of: 'of lossproof itself', any: ['trainers', 'trainer', 'adapter'] },
  { of: 'of axolotl', any: ['base_model'] },
  { of: 'of torchtune', any: ['checkpointer', 'recipe_checkpoint'] },
  { of: 'of verl', any: ['actor_rollout_ref', 'data'] },
  { of: 'of OpenRLHF', any: ['pretrain'] },
  { of: 'of ms-swift', any: ['tuner_type', 'train_type', 'swift_version'] },
];
