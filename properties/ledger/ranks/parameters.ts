// Processes that train one model must have one model: before the first step, and behind each.
import type {
  Ledger,
  LedgerJudgement,
  LedgerNotice,
  LedgerProperty,
  ReplicaSet,
  ReplicaStep,
} from '../../../src/index.ts';
import { type Aside, aside, isAside, judgementFrom, type Said } from '../words.ts';
import {
  apartOf,
  differenceOf,
  meantAsOne,
  needsReplicas,
  ownParts,
  partOf,
  ranksOf,
  without,
} from './told.ts';

/** With a notice where a case that is set aside is worth a word. */
type Told = Said | (Aside & { readonly notice: LedgerNotice });

function judge(ledger: Ledger, sayOf: (set: ReplicaSet) => readonly Told[]): LedgerJudgement {
  const said = (ledger.replicas ?? []).flatMap(sayOf);
  const notices = said.flatMap((each) => (isAside(each) && 'notice' in each ? [each.notice] : []));
  return {
    ...judgementFrom(said),
    ...(notices.length === 0 ? {} : { notices }),
  };
}

// --- one model to begin with ---

const begin: LedgerProperty = {
  id: 'ranks/replicas-begin-equal',
  title: 'Processes that share their gradients begin with the same parameters',
  stage: 'trace',
  level: 'must',
  why: 'Gradients that are averaged over different models fit none of them: every process saves another model, and none is the one that was trained.',
  catches: ['RNK-03'],
  needs: needsReplicas,
  judge: (ledger) => judge(ledger, (set) => [beginning(set)]),
};

function beginning(set: ReplicaSet): Told {
  const step = set.steps.find(({ parameters }) => parameters !== undefined);
  if (step?.parameters === undefined) return aside('no parameters were compared');
  const compared = without(step.parameters, ownParts(set));
  if (compared.differ.length === 0) return 'good';
  if (!meantAsOne(set)) return { ...aside('the processes share no gradient'), notice: apartNotice(set) };
  const how =
    set.wrapper === undefined
      ? `Their gradients are the same, so they are meant to be one model. Make the parameters on all ranks with one seed, or broadcast those of rank 0 (torch.distributed.broadcast) before the first step.`
      : `${set.wrapper} made them the same when it was made: what was loaded or initialised afterwards, on some ranks only or with seeds of their own, has changed them. Do that before the model is wrapped.`;
  return differenceOf(set, step, compared, {
    kind: 'begin',
    sentence: `Before step ${step.step}, the parameters of ${apartOf(compared)} are not the same: ${partOf(compared)}.`,
    note: how,
  });
}

const apartNotice = (set: ReplicaSet): LedgerNotice => ({
  sentence: `The processes of ${ranksOf(set.ranks)} hold other parameters from the start and share no gradient: each trains a model, or a part of one, of its own.`,
  answers: [],
  remark: true,
});

// --- one model behind each step ---

const stay: LedgerProperty = {
  id: 'ranks/replicas-stay-equal',
  title: 'A step with the same gradients leaves the same parameters in every process',
  stage: 'trace',
  level: 'must',
  why: 'A learning rate, a weight decay or an optimiser state of its own on one rank: from then on the gradients are averaged over models that drift apart.',
  catches: ['RNK-03'],
  needs: needsReplicas,
  judge: (ledger) =>
    judge(ledger, (set) => set.steps.flatMap((step, at) => behind(set, step, set.steps[at + 1]))),
};

function behind(set: ReplicaSet, step: ReplicaStep, next: ReplicaStep | undefined): readonly Told[] {
  const own = ownParts(set);
  const [before, after] = [step.parameters, next?.parameters];
  if (before === undefined || step.gradients === undefined || after === undefined) return [];
  const compared = without(after, own);
  // What began apart, or was not reduced, is another rule's business.
  if (without(before, own).differ.length > 0)
    return [aside('the parameters of the processes differed before the step')];
  if (without(step.gradients, own).differ.length > 0) return [aside('the gradients of the processes differ')];
  if (compared.differ.length === 0) return ['good'];
  return [
    differenceOf(set, step, compared, {
      kind: 'stay',
      sentence: `Step ${step.step} had the same parameters and the same gradients on ${ranksOf(set.ranks)}, and left others: ${partOf(compared)} differ between ${apartOf(compared)}.`,
      note: 'The optimisers are not the same: compare their learning rates, weight decays and loaded states by rank, and what is done to the parameters after the step.',
    }),
  ];
}

// --- no process alone ---

const together: LedgerProperty = {
  id: 'ranks/no-process-trains-alone',
  title: 'Processes that begin with one model share what they learn',
  stage: 'trace',
  level: 'should',
  why: 'Where nothing reduces the gradients, each process trains a model of its own on a part of the data, and all but one are thrown away at the end.',
  catches: ['RNK-02'],
  needs: needsReplicas,
  judge: (ledger) =>
    judge(ledger, (set) => {
      if (set.wrapper === undefined && !meantAsOne(set)) return alone(set);
      // What shards a model shares its gradients in a way that is not seen.
      return set.steps.some(({ gradients }) => (gradients?.same ?? 0) > 0)
        ? ['good']
        : [aside('no gradient was seen to be the same in two processes')];
    }),
};

function alone(set: ReplicaSet): readonly Told[] {
  const [first] = set.steps;
  if (first?.parameters === undefined || first.parameters.differ.length > 0)
    return [aside('the processes were not seen to begin with the same parameters')];
  const later = set.steps.slice(1).filter(({ parameters }) => parameters !== undefined);
  const parted = later.find(({ parameters }) => (parameters?.differ.length ?? 0) > 0);
  if (parted?.parameters === undefined)
    return later.length === 0
      ? [aside('parameters were compared before one step only')]
      : [{ ...aside('the processes have equal parameters after each step'), notice: insideNotice(set) }];
  const met = later.some(({ parameters }) => parameters?.differ.length === 0);
  if (met || set.steps.some(({ periodic }) => periodic))
    return [
      { ...aside('the processes are given equal parameters now and then'), notice: periodicNotice(set) },
    ];
  return [
    differenceOf(set, first, parted.parameters, {
      kind: 'alone',
      sentence: `The processes of ${ranksOf(set.ranks)} begin with the same parameters, and no gradient is the same when their optimisers step: before step ${parted.step}, ${partOf(parted.parameters)} differ.`,
      note: 'Put the model into torch.nn.parallel.DistributedDataParallel, or reduce the gradients after the last backward() before a step. Where parameters are averaged every few steps instead (local SGD), trace more steps than lie between (--steps N): then it is seen.',
    }),
  ];
}

/** Equal before each step, although step() found other gradients on each: local SGD would part between two averages. */
const insideNotice = (set: ReplicaSet): LedgerNotice => ({
  sentence: `The processes of ${ranksOf(set.ranks)} call step() with gradients of their own, and have equal parameters after each step: the gradients are reduced inside the optimiser, or the parameters are averaged after every step. The weights shown are those of each process before that.`,
  answers: [],
  remark: true,
});

const periodicNotice = (set: ReplicaSet): LedgerNotice => ({
  sentence: `The processes of ${ranksOf(set.ranks)} share no gradient at each step, and are given one set of parameters now and then, as in local SGD. The weights shown are those of each process's own step.`,
  answers: [],
  remark: true,
});

export const parameterRules: readonly LedgerProperty[] = [begin, stay, together];
