// Models that predict no token: rules of whole steps judge them, and no rule about tokens does.
import { PAIRS, PREFERENCES } from '../data.ts';
import type { CleanCase, FaultyCase } from '../kinds.ts';

const script = (more: string): CleanCase => ({
  words: `steps/scores.py --data {data} ${more}`,
  data: PAIRS,
  options: '--strict',
  says: /rules about tokens do not apply: what is trained predicts none \(\w+, head [\w.]+\)/,
});

const wrong = (more: string, found: string, says: RegExp): FaultyCase => ({
  words: `steps/scores.py --data {data} ${more}`,
  data: PAIRS,
  found,
  says,
});

const HOLDS = 'update/optimiser-holds-the-model';
const WHOLE = '--accumulate 2 --schedule --clip';

export const scores = {
  clean: {
    'a reward model of transformers on pairs': script(`--kind pairs ${WHOLE}`),
    'pairs in one call, with dropout': script(`--kind together --dropout ${WHOLE}`),
    'a head by hand over a body': script(`--kind hand ${WHOLE}`),
    'a margin in place of a sigmoid': script(`--kind margin ${WHOLE}`),
    'a critic that is read at every token': script(`--kind critic ${WHOLE}`),
    'a classifier of three classes': script(`--kind classes ${WHOLE}`),
    'a regression to numbers': script(`--kind regression ${WHOLE}`),
    "TRL's reward trainer": {
      ...script(''),
      words: 'steps/reward_trainer.py --data {data} --output {out}',
      data: PREFERENCES,
    },
    'the loss of pairs inside of the model': script(`--kind loss ${WHOLE}`),
  },
  faulty: {
    'an optimiser without the head of a reward model': wrong(
      '--kind pairs --fault no-head',
      HOLDS,
      /No optimiser holds the head \(score\.weight\)/,
    ),
    'an optimiser without the head of a critic': wrong(
      '--kind critic --fault no-head',
      HOLDS,
      /No optimiser holds the head \(v_head\.weight, v_head\.bias\)/,
    ),
    'an optimiser of a reward model that was copied behind it': wrong(
      '--kind hand --fault copied',
      HOLDS,
      /holds \d+ tensors, none of which is the model's/,
    ),
    'gradients of pairs that are zeroed before the step': wrong(
      '--kind pairs --fault zeroed',
      'update/gradients-reach-the-step',
      /brought gradients of \d+ scores, and they were set to nothing at steps\/scores\.py:\d+/,
    ),
    'gradients of a classifier that nobody zeroes': wrong(
      '--kind classes --fault not-zeroed',
      'update/no-gradient-is-used-twice',
      /were still there, to the bit/,
    ),
    'a scheduler of a critic that is never stepped': wrong(
      '--kind critic --schedule --fault never-stepped',
      'update/schedule-goes-by-steps',
      /OneCycleLR is not stepped/,
    ),
    'clipping behind the step of a reward model': wrong(
      '--kind together --clip --fault clip-behind',
      'update/clipping-is-of-the-whole-gradient',
      /is called after step 0/,
    ),
    'a body that is cut off from its head': wrong(
      '--kind hand --fault detached',
      'update/gradients-reach-every-layer',
      /no layer of body\.layers has a gradient/,
    ),
  },
};
