// What the optimisers of one model find must be one gradient: reduced over all processes, to the bit.
import {
  type Compared,
  type Ledger,
  type LedgerFinding,
  type LedgerJudgement,
  type LedgerNotice,
  type LedgerProperty,
  type ReplicaSet,
  type ReplicaStep,
  show,
} from '../../../src/index.ts';
import { aside, type Found, judgementFrom, type Said } from '../words.ts';
import { apartOf, differenceOf, needsReplicas, ownParts, partOf, ranksOf, without } from './told.ts';

function judge(
  { replicas = [] }: Ledger,
  sayOf: (set: ReplicaSet, step: ReplicaStep, gradients: Compared) => Said,
): LedgerJudgement {
  const all: Said[] = [];
  for (const set of replicas) {
    const own = ownParts(set);
    for (const step of set.steps) {
      if (step.gradients === undefined) continue;
      all.push(sayOf(set, step, without(step.gradients, own)));
    }
  }
  return judgementFrom(all);
}

/** The wrapper is there, and none of the calls for training went through it. */
const bypassed = ({ wrapper, gone }: ReplicaSet, { through }: ReplicaStep): boolean =>
  wrapper !== undefined && !gone && through === 0;

// --- reduced ---

const reduced: LedgerProperty = {
  id: 'ranks/gradients-are-reduced',
  title: 'The optimisers of all processes that train one model find the same gradients',
  stage: 'trace',
  level: 'must',
  why: 'Without it each process steps by its own rows, at the learning rate that was chosen for all, and what were copies of one model part without a word.',
  catches: ['RNK-02'],
  needs: needsReplicas,
  judge: (ledger) => {
    const judgement = judge(ledger, sayOf);
    const notices = (ledger.replicas ?? []).flatMap(noticesOf);
    return notices.length === 0 ? judgement : { ...judgement, notices };
  },
};

function sayOf(set: ReplicaSet, step: ReplicaStep, gradients: Compared): Said {
  if (gradients.differ.length === 0)
    return gradients.same > 0 ? 'good' : aside('no gradient could be compared between the processes');
  // Parameters that were not the same have other gradients of the same rows; and a call past the wrapper has a rule of its own.
  if (set.wrapper === undefined && (step.parameters?.differ.length ?? 0) > 0 && gradients.same === 0)
    return aside('the parameters of the processes differed already');
  if (bypassed(set, step)) return aside('the model was not called through its wrapper');
  if (step.periodic) return aside('the parameters are averaged every few steps (local SGD)');
  if (step.scaled !== undefined) return scaledFound(set, step, gradients, step.scaled);
  // Nobody has said that they are to be reduced: whether they meet in another way is seen by what becomes of the parameters.
  if (set.wrapper === undefined && gradients.same === 0)
    return aside('nothing says that the processes share gradients');
  return differenceOf(set, step, gradients, {
    kind: gradients.same > 0 ? 'in part' : 'not reduced',
    sentence: `At step ${step.step}, the optimisers of ${apartOf(gradients)} found other gradients: ${partOf(gradients)}.`,
    note: whyOf(set, step, gradients),
  });
}

function whyOf({ wrapper, gone }: ReplicaSet, { calls, synced }: ReplicaStep, { same }: Compared): string {
  const own =
    'Each process steps by its own rows; the weights shown are those of that process alone, divided by no number of processes.';
  if (wrapper === undefined || same > 0)
    return 'The other tensors were reduced: these were left out, or were reduced before their last backward pass.';
  if (gone)
    return `${wrapper} was made and thrown away: call what it returns instead of the model that it was given. ${own}`;
  if (calls > 0 && synced === 0)
    return `Every forward pass was made inside of no_sync(): the last one before a step must not be. ${own}`;
  return `The model was called through ${wrapper}, and its hooks did nothing: they are lost if the model is cast, moved or given new parameters after the wrapping. Do that first, and wrap the model last. ${own}`;
}

function scaledFound(
  set: ReplicaSet,
  step: ReplicaStep,
  gradients: Compared,
  { rank, by }: NonNullable<ReplicaStep['scaled']>,
): Found {
  return differenceOf(set, step, gradients, {
    kind: 'scaled',
    sentence: `At step ${step.step}, every gradient of rank ${rank} is ${show(by)} times that of rank ${set.ranks[0]}.`,
    note: 'They were reduced, and then clipped or scaled on some ranks only, or each by another norm. Do it on all ranks, with one norm.',
  });
}

const noticesOf = (set: ReplicaSet): LedgerNotice[] =>
  set.steps.some(({ periodic, gradients }) => periodic && (gradients?.differ.length ?? 0) > 0)
    ? [
        {
          sentence: `The gradients of ${ranksOf(set.ranks)} are not reduced at each step; one of torch's averagers of parameters was made: local SGD.`,
          answers: [],
          remark: true,
        },
      ]
    : [];

// --- through the wrapper ---

const called: LedgerProperty = {
  id: 'ranks/wrapper-is-called',
  title: 'A model that was put into DistributedDataParallel is trained through it',
  stage: 'trace',
  level: 'must',
  why: 'Only a call of the wrapper prepares the reduction of gradients: a call of the model inside it trains each process apart, with no error and no warning.',
  catches: ['RNK-01'],
  needs: ({ replicas = [] }) =>
    replicas.some(({ wrapper }) => wrapper !== undefined)
      ? undefined
      : 'no model of several processes was put into DistributedDataParallel',
  judge: (ledger) =>
    judge(ledger, (set, step, gradients) => {
      if (set.wrapper === undefined) return aside('the model is in no wrapper');
      if (set.gone) return aside('the wrapper was thrown away');
      if (!bypassed(set, step)) return 'good';
      // Who reduces by hand may call what he likes.
      return gradients.differ.length === 0
        ? aside('the gradients are reduced without the wrapper')
        : bypassing(set, step, gradients);
    }),
};

function bypassing(set: ReplicaSet, step: ReplicaStep, gradients: Compared): Found {
  const finding: Pick<LedgerFinding, 'kind' | 'sentence' | 'note'> = {
    kind: 'bypassed',
    sentence: `None of the ${step.calls} forward passes before step ${step.step} went through ${set.wrapper}, and the gradients of ${apartOf(gradients)} were not reduced: ${partOf(gradients)} differ.`,
    note: 'The model inside of the wrapper was called: a name from before the wrapping, or `.module`. Call what DistributedDataParallel(model) returned.',
  };
  return differenceOf(set, step, gradients, finding);
}

export const gradientRules: readonly LedgerProperty[] = [reduced, called];
