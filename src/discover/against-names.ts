// What holds, and is against what things are called: a formula is known for it, and the trainer means another one.
import type { Semantics } from '../vocabulary.ts';
import type { Candidate, Way } from './dialogue.ts';
import type { Broken } from './judge.ts';

export function againstNames(candidate: Candidate, way: Way, variant: Semantics): Broken | undefined {
  return (
    crossedBounds(way, variant) ??
    overTheBatch(candidate, variant) ??
    unreadReference(candidate, way, variant)
  );
}

/** The lower bound that it has is measured as the upper one. */
function crossedBounds({ invented, own }: Way, { clip_low, clip_high }: Semantics): Broken | undefined {
  const given = (pattern: RegExp): number | undefined => {
    const found = [...invented, ...own].find(([name]) => /clip|eps/i.test(name) && pattern.test(name));
    return found === undefined ? undefined : Number(found[1]);
  };
  const low = given(/low|min/i);
  const high = given(/high|max|upper/i);
  if (low === undefined || high === undefined || low === high) return undefined;
  if (clip_low !== high || clip_high !== low) return undefined;
  return {
    property: 'loss/equals-the-declared-formula',
    level: 'must',
    sentence: `With ${low} as its lower bound and ${high} as its upper one, it keeps ratios between ${1 - high} and ${1 + low}: they are crossed.`,
  };
}

/** A mean over all rows beside the spread of a group is nobody's baseline; nor is it one of what is called a group's. */
function overTheBatch(
  { name }: Candidate,
  { advantage_baseline, advantage_scaling }: Semantics,
): Broken | undefined {
  if (advantage_baseline !== 'batch-mean') return undefined;
  if (advantage_scaling !== 'group' && !/group|grpo/i.test(name)) return undefined;
  return {
    property: 'advantages/equal-the-declared-formula',
    level: 'must',
    sentence:
      advantage_scaling === 'group'
        ? 'It divides by the spread of the group, and subtracts the mean of the whole batch.'
        : 'By its name it is of groups, and it subtracts the mean of the whole batch.',
  };
}

/** Handed what a reference says of both completions, it is DPO that forgot it; SimPO under its own name may be handed it in vain. */
function unreadReference(
  { name }: Candidate,
  { arguments: given, call }: Way,
  { preference_objective }: Semantics,
): Broken | undefined {
  if (preference_objective !== 'simpo' || /simpo|cpo|free/i.test(name + call)) return undefined;
  const handed = given
    .filter(([, text]) => /\bref_(chosen|rejected)/.test(text))
    .map(([parameter]) => parameter);
  if (handed.length === 0) return undefined;
  return {
    property: 'preference_loss/equals-the-objective',
    level: 'must',
    sentence: `It takes ${handed.join(' and ')}, and nothing that it returns depends on them: without a reference this is SimPO, and no DPO.`,
  };
}
