// The catalogue of bugs: what has gone wrong in real trainers, one row a mistake, with where it was seen and what is
// done about it. Mutants are named after these rows and properties say which of them they catch; how a bug is noticed
// is the properties' business.
import { advantages } from './advantages.ts';
import type { Bug } from './bug.ts';
import { experts } from './losses/experts.ts';
import { losses } from './losses/losses.ts';
import { models } from './models.ts';
import { pipelines } from './pipelines.ts';
import { ranks } from './ranks.ts';
import { rollouts } from './rollouts.ts';
import { images } from './rows/images.ts';
import { rows } from './rows/rows.ts';
import { scores } from './scores.ts';
import { steps } from './steps.ts';
import { text } from './text.ts';

export type { Bug } from './bug.ts';

/** The classes, by the letters that their ids begin with, in the order in which a conversation meets them. */
export const bugClasses: Readonly<Record<string, string>> = {
  TOK: 'Text and tokens',
  EOS: 'Stop tokens',
  PAD: 'Padding',
  TPL: 'Chat templates',
  MSK: 'Masks',
  LP: 'Log-probabilities',
  KL: 'KL to the reference',
  ADV: 'Advantages',
  LOSS: 'Aggregation of losses',
  KTO: 'Losses of labelled completions',
  MOE: 'Balance of experts',
  PPO: 'The policy objective',
  VAL: 'Rewards and values',
  TRN: 'Truncation',
  PCK: 'Packing',
  IMG: 'Images',
  MT: 'Rollouts of several turns',
  PEN: 'Penalties of sampling',
  ZL: 'Nothing trained',
  OPT: 'Optimiser steps',
  NUM: 'Numbers that are none',
  RNK: 'Several processes',
};

/** By family: a bug stands with the ops that show it. */
const families = {
  text,
  rows,
  rollouts,
  scores,
  advantages,
  losses,
  models,
  pipelines,
  steps,
  ranks,
  experts,
  images,
};
const all = Object.values(families).flat();
const numberOf = ({ id }: Bug): number => Number(id.split('-').at(-1));

/** Every bug, class by class, by number. */
export const bugs: readonly Bug[] = Object.keys(bugClasses).flatMap((name) =>
  all.filter(({ id }) => id.startsWith(`${name}-`)).sort((a, b) => numberOf(a) - numberOf(b)),
);

const byId = new Map(bugs.map((bug) => [bug.id, bug]));

/** The bugs of these ids, in their order; ids that no bug has are left out. */
export function bugsOf(ids: readonly string[]): readonly Bug[] {
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The address of a thread or commit in `seen`, on GitHub: issues redirect to pull requests where it is one. */
export function threadUrl(seen: string): string {
  const [, repository = '', kind, which = ''] = /^([^#@]+)([#@])(.+)$/.exec(seen) ?? [];
  return `https://github.com/${repository}/${kind === '@' ? 'commit' : 'issues'}/${which}`;
}
