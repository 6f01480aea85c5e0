// A trainer in this process with two or three ops, and its golden files, for tests of what becomes of entries.

import type { PropertyResult, RunEvent } from '../../src/check/events.ts';
import { worldOf } from '../../src/check/run.ts';
import { type GoldenCase, goldenCase } from '../../src/golden/case.ts';
import type { GoldenFile } from '../../src/golden/file.ts';
import { type Asking, filesWith, recording } from '../../src/golden/record.ts';
import { type GoldenRun, judgeGolden } from '../../src/golden/run.ts';
import { type ObjectTrainerSpec, objectTrainer } from '../../src/trainer/object.ts';

export const CASES: readonly GoldenCase[] = [
  goldenCase('advantages/one-group', 'advantages', () => ({ rewards: [1, 0, 0.5], group_ids: [0, 0, 0] })),
  goldenCase('clip_advantages/beyond', 'clip_advantages', () => ({ advantages: [0.5, -7], limit: 5 })),
  goldenCase('decode/words', 'decode', () => ({ ids: [5, 6] })),
];

export const SPEC: ObjectTrainerSpec = {
  hello: {
    protocol: 1,
    name: 'small',
    version: '1',
    ops: { advantages: {}, clip_advantages: {}, decode: {} },
    dtype: 'float64',
    semantics: { advantage_ddof: 1 },
  },
  ops: {
    advantages: ({ rewards }) => ({ advantages: rewards.map((reward) => reward - 0.5) }),
    clip_advantages: ({ advantages, limit }) => ({
      advantages: advantages.map((each) => Math.max(-limit, Math.min(limit, each))),
    }),
    decode: ({ ids }) => ({ text: `${ids.join(' ')} Grüße` }),
  },
};

export function asking(spec: ObjectTrainerSpec = SPEC, cases = CASES): Asking {
  const trainer = objectTrainer(spec);
  return { trainer, world: worldOf(trainer, undefined), tokenizer: undefined, cases, wanted: () => true };
}

export async function recorded(
  spec?: ObjectTrainerSpec,
  cases?: readonly GoldenCase[],
): Promise<GoldenFile[]> {
  const how = asking(spec, cases);
  return filesWith(how, [], (await recording(how)).entries);
}

export interface Compared {
  readonly results: readonly PropertyResult[];
  readonly events: readonly RunEvent[];
  /** Ids that fail, in the order of the run. */
  readonly red: readonly string[];
  /** What is said of an entry that fails. */
  sentence(id: string): string | undefined;
}

export async function compare(
  files: readonly GoldenFile[],
  how: Asking,
  more: Partial<GoldenRun> = {},
): Promise<Compared> {
  const events: RunEvent[] = [];
  const results = await judgeGolden(
    {
      ...how,
      files,
      command: '',
      replay: { command: '', traced: true, golden: true },
      acceptLine: (id) => `golden accept ${id}`,
      ...more,
    },
    (event) => events.push(event),
  );
  return {
    results,
    events,
    red: results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'unsupported').map(({ id }) => id),
    sentence: (id) => results.find((each) => each.id === id)?.failure?.finding?.sentence,
  };
}
