// Rollouts under changes that must not matter: a batch stacked on itself is scored as it was.
import { type Property, type Rollouts, relations } from '../../src/index.ts';
import { base, needsTokens, rolloutArgs } from './rollout.ts';

export const rolloutRelations: readonly Property<Rollouts>[] = relations<'rollout', Rollouts>({
  ...base,
  op: 'rollout',
  noun: 'A scored rollout',
  args: (drawn, subject) => rolloutArgs(subject, drawn),
  needs: [needsTokens],
  allBut: [],
});
