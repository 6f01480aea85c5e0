// Truncation under changes that must not matter: a batch stacked on itself is cut as it was.
import {
  type Args,
  type LimitedExamples,
  type LimitedPrompts,
  type Ok,
  type Property,
  relations,
  type Subject,
} from '../../src/index.ts';
import { truncation } from './cut-rows.ts';
import { cutPromptsBase } from './truncate-prompts.ts';

export const truncateRelations: readonly Property<LimitedExamples>[] = relations<'truncate', LimitedExamples>(
  {
    ...truncation,
    op: 'truncate',
    noun: 'The kept part of an example',
    args: ({ examples, limit }) => ({
      input_ids: examples.map(({ ids }) => ids),
      labels: examples.map(({ labels }) => labels),
      max_length: limit,
    }),
    ask: cutOrWhole,
    allBut: [],
  },
);

/** A trainer may refuse examples above the limit: its rows then show at a limit that none is above. */
async function cutOrWhole(subject: Subject, args: Args<'truncate'>): Promise<Ok<'truncate'>> {
  const outcome = await subject.attempt('truncate', args);
  if ('ok' in outcome) return outcome.ok;
  const longest = Math.max(...args.input_ids.map(({ length }) => length));
  return subject.ask('truncate', { ...args, max_length: Math.max(args.max_length, longest) });
}

export const truncatePromptRelations: readonly Property<LimitedPrompts>[] = relations<
  'truncate_prompts',
  LimitedPrompts
>({
  ...cutPromptsBase,
  op: 'truncate_prompts',
  prefix: 'truncate/prompts-',
  noun: 'The kept part of a prompt',
  args: ({ prompts, limit, pad }) => ({ prompt_ids: prompts, max_prompt_length: limit, pad_token_id: pad }),
  ask: promptsCutOrWhole,
  allBut: [],
});

async function promptsCutOrWhole(
  subject: Subject,
  args: Args<'truncate_prompts'>,
): Promise<Ok<'truncate_prompts'>> {
  const outcome = await subject.attempt('truncate_prompts', args);
  if ('ok' in outcome) return outcome.ok;
  const longest = Math.max(...args.prompt_ids.map(({ length }) => length));
  return subject.ask('truncate_prompts', {
    ...args,
    max_prompt_length: Math.max(args.max_prompt_length, longest),
  });
}
