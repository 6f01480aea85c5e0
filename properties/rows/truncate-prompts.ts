// Prompts that are too long for generation. Leaving them out or refusing them is the answer that changes nothing; one
// that is cut must at least consist of its own tokens, and no padding in their place.
import {
  cutPrompts,
  type Finding,
  type Ids,
  isSubsequence,
  type LimitedPrompts,
  many,
  type Property,
  promptLabels,
  type Strip,
  type Subject,
  stripOf,
  type World,
} from '../../src/index.ts';

export const cutPromptsBase = {
  stage: 'truncate',
  level: 'must',
  ops: ['truncate_prompts'],
  given: (world: World) => cutPrompts(world.hello.tokens),
  labels: promptLabels,
  mayRefuse: ['a prompt is too long'],
  coverage: { 'unequal rows': 0.2, 'a prompt is too long': 0.25, 'a prompt just fits': 0.15 },
} as const;

interface CutPrompt {
  readonly row: number;
  /** Which prompt it is. */
  readonly at: number;
  readonly prompt: Ids;
  /** What the model will see of it. */
  readonly seen: Ids;
  readonly strip: Strip;
}

/** Undefined where the trainer refuses prompts that are too long. */
async function cut(subject: Subject, drawn: LimitedPrompts): Promise<readonly CutPrompt[] | undefined> {
  const args = { prompt_ids: drawn.prompts, max_prompt_length: drawn.limit, pad_token_id: drawn.pad };
  const outcome = drawn.prompts.some((ids) => ids.length > drawn.limit)
    ? await subject.attempt('truncate_prompts', args)
    : { ok: await subject.ask('truncate_prompts', args) };
  if ('refused' in outcome) return undefined;
  const { input_ids: rows, attention_mask: masks, kept = drawn.prompts.map((_, at) => at) } = outcome.ok;
  return rows.map((ids, row): CutPrompt => {
    const attention = masks[row] ?? [];
    const at = kept[row] ?? row;
    return {
      row,
      at,
      prompt: drawn.prompts[at] ?? [],
      seen: ids.filter((_, column) => attention[column] === 1),
      strip: stripOf(subject, {
        row,
        ids,
        roles: ids.map((_, column) => (attention[column] === 1 ? 'prompt' : 'padding')),
        tracks: { attention_mask: attention },
        marks: [],
      }),
    };
  });
}

const shown = (ids: Ids): string => `[${ids.join(', ')}]`;

/** A rule about the prompts that were cut. */
function eachCut(rule: (at: CutPrompt) => Finding | undefined): Property<LimitedPrompts>['check'] {
  return async (subject, drawn) => {
    for (const at of (await cut(subject, drawn)) ?? []) {
      if (at.prompt.length <= drawn.limit) continue;
      const found = rule(at);
      if (found !== undefined) return { strips: [at.strip], ...found };
    }
    return undefined;
  };
}

export const truncatePromptProperties: readonly Property<LimitedPrompts>[] = [
  {
    ...cutPromptsBase,
    id: 'truncate/prompts-keep-what-fits',
    title: 'A prompt keeps as many of its own tokens as fit, in its own row',
    why: 'Columns cut off a matrix that is padded on the right keep padding and lose words; the shortest prompts become nothing but padding.',
    catches: ['TRN-01', 'TRN-06', 'PAD-06', 'PAD-08'],
    async check(subject, drawn) {
      const rows = await cut(subject, drawn);
      if (rows === undefined) return undefined;
      for (const { row, at, prompt, seen, strip } of rows) {
        const most = Math.min(prompt.length, drawn.limit);
        if (seen.length === most && isSubsequence(seen, prompt)) continue;
        return {
          kind: 'tokens',
          sentence: `The model sees ${shown(seen)} in row ${row}; of prompt ${at}, ${shown(prompt)}, ${many(most, 'token')} fit under the limit of ${drawn.limit}.`,
          strips: [strip],
        };
      }
      for (const [at, prompt] of drawn.prompts.entries()) {
        const times = rows.filter((each) => each.at === at).length;
        // A filter may ask for one token less than the limit.
        if (times === 1 || (times === 0 && prompt.length >= drawn.limit)) continue;
        return {
          kind: times === 0 ? 'lost' : 'twice',
          sentence: `Prompt ${at} has ${many(prompt.length, 'token')}, the limit is ${drawn.limit}, and it is in ${many(times, 'row')}.`,
        };
      }
      return undefined;
    },
  },
  {
    ...cutPromptsBase,
    id: 'truncate/prompts-keep-their-end',
    title: 'A prompt that is cut still ends as it did',
    level: 'should',
    why: 'Cut on the right, a prompt loses the end of the question and the generation prompt: the model goes on asking, and is scored for it.',
    catches: ['TRN-03'],
    check: eachCut(({ row, at, prompt, seen }) =>
      seen.at(-1) === prompt.at(-1)
        ? undefined
        : {
            kind: 'end',
            sentence: `Prompt ${at} ends in ${shown(prompt.slice(-2))}, and row ${row} in ${shown(seen.slice(-2))}: generation begins in the middle of the prompt.`,
          },
    ),
  },
  {
    ...cutPromptsBase,
    id: 'truncate/prompts-keep-their-beginning',
    title: 'A prompt that is cut still begins as it did, or is left out',
    level: 'may',
    why: 'A prompt that is cut on the left loses its first tokens without an error: the system message, and with it the rules of the reward.',
    catches: ['TRN-03'],
    check: eachCut(({ row, at, prompt, seen }) =>
      seen[0] === prompt[0]
        ? undefined
        : {
            kind: 'beginning',
            sentence: `Prompt ${at} begins with ${shown(prompt.slice(0, 2))}, and row ${row} with ${shown(seen.slice(0, 2))}: what stood before is lost, and nothing says so.`,
          },
    ),
  },
];
