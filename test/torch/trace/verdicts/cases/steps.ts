// What one process does with its gradients: silent errors of whole steps, each beside a script that is right.
import { ANSWERS } from '../correct.ts';
import { PAIRS } from '../data.ts';
import { tokenMean } from '../exact.ts';
import type { Cases } from '../kinds.ts';

const data = { data: PAIRS, options: ANSWERS };
const LOOP = { ...data, words: 'steps/loop.py --data {data}' };
const SHAPE = { ...data, words: 'steps/shapes.py --data {data} --shape' };
const SCHEDULE = { ...data, words: 'steps/schedule.py --data {data}' };
const LOADED = { ...data, words: 'steps/loaded.py --data {data}' };
const SCORING = { ...data, words: 'steps/scoring.py --data {data}' };

const PACKED = { data: PAIRS, options: '--strict', words: 'steps/packed.py --data {data} --way' };

const with_ = (of: typeof LOOP, more: string): typeof LOOP => ({ ...of, words: `${of.words} ${more}` });
const HOLDS = 'update/optimiser-holds-the-model';
const DECAY = 'update/decay-spares-what-is-free-of-it';
const SCHEDULER = 'update/schedule-goes-by-steps';

/** Schedulers that step those they are made of: to the script, one scheduler. */
const composed = <T>(more: string, told: T): Record<string, typeof SCHEDULE & T> =>
  Object.fromEntries(
    ['sequential', 'chained', 'nested'].map((kind) => [
      `schedulers of schedulers, ${kind}${more}`,
      { ...with_(SCHEDULE, `--kind ${kind}${more}`), ...told },
    ]),
  );

export const steps: Cases = {
  clean: {
    'zero_grad at the head of the loop, tied weights, a first pass that claims memory': {
      ...with_(LOOP, '--zero-at-head --tied --probe'),
      says: /gradients of 1 forward pass \([^)]*\) were set to nothing at steps\/loop\.py:\d+/,
    },
    'the same through a runner of scripts': {
      ...with_({ ...LOOP, words: `python on_device.py ${LOOP.words}` }, '--zero-at-head --tied --probe'),
      says: /gradients of 1 forward pass \([^)]*\) were set to nothing at steps\/loop\.py:\d+/,
    },
    ...Object.fromEntries(
      (
        [
          ['blocks', /attention keeps them apart/],
          ['added', /attention keeps them apart/],
          ['transformers', /attention keeps them apart/],
          ['eager', /what attention allows between them was not seen/],
          ['one-by-one', /steps?, \d+ rows?/],
        ] as const
      ).map(([way, says]) => [`packed rows: ${way}`, { ...PACKED, words: `${PACKED.words} ${way}`, says }]),
    ),
    ...Object.fromEntries(
      ['few-trained', 'thawed-unheld', 'in-turn'].map((fault) => [
        `what is frozen stays so, in a strict run: ${fault}`,
        {
          ...with_(LOOP, `--fault ${fault}`),
          options: `${ANSWERS} --strict --only update/what-is-frozen-stays`,
        },
      ]),
    ),
    'all but one tensor is frozen': {
      ...with_(LOOP, '--fault few-trained'),
      says: /1 of 29 tensors got a gradient in step 0: 32 of 70,944 parameters \(model\.norm\.weight\)/,
    },
    'an optimiser of the head alone': {
      ...with_(LOOP, '--fault held-in-part'),
      says: /28 of 29 tensors with a gradient are in no optimiser that stepped/,
    },
    'a layer that is initialised again between two steps': {
      ...with_(LOOP, '--fault anew'),
      says: /Before step 1, 1 tensor changed while no optimiser was at work: model\.layers\.0\.mlp\.down_proj\.weight\./,
      tells: 'made-anew',
    },
    'one weight decay for all': {
      ...with_(LOOP, '--accumulate 1 --fault undecayed'),
      exact: tokenMean(PAIRS),
    },
    ...Object.fromEntries(
      [
        'closure',
        'two-optimisers',
        'master',
        'flat-master',
        'in-backward',
        'sam',
        'ema',
        'adapters',
        'put-together',
      ].map((shape) => [`an unusual loop: ${shape}`, with_(SHAPE, shape)]),
    ),
    ...Object.fromEntries(
      ['factors', 'layers', 'last', 'left-out', 'all-held'].map((shape) => [
        `adapters by hand in a strict run: ${shape}`,
        {
          words: `steps/lora.py --shape ${shape}`,
          options: '--strict',
          says: /Ordinary, and worth knowing: \d+ of \d+ tensors/,
        },
      ]),
    ),
    ...Object.fromEntries(
      ['local', 'slots', 'file'].map((held) => [
        `a tokenizer of the library tokenizers as it is: ${held}`,
        { words: `steps/raw_tokenizer.py --held ${held}`, says: /token +hello +\S*there/ },
      ]),
    ),
    'a warm-up by steps and a gradient scaler': with_(SCHEDULE, '--scaler'),
    'a schedule by epochs': with_(SCHEDULE, '--kind cosine --by epoch'),
    ...composed('', { says: /^(?!.*not stepped between)/ }),
    'a schedule by micro-batches': {
      ...with_(SCHEDULE, '--kind cosine --by batch --accumulate 2'),
      says: /once after each micro-batch\. This is right if its length is counted in micro-batches/,
    },
    'a checkpoint by from_pretrained, resized and cast': with_(LOADED, '--way pretrained --tied'),
    'a new head behind loading': {
      ...with_(LOADED, '--fault head'),
      says: /1 of \d+ tensors that were loaded at steps\/loaded\.py:\d+ have nothing in common/,
    },
    'old and reference log-probabilities in evaluation mode': with_(SCORING, '--reference'),
    'a training in evaluation mode from the beginning': {
      ...with_(SCORING, '--fault eval'),
      says: /The model is trained in evaluation mode/,
    },
  },
  faulty: {
    'zero_grad between backward and step': {
      ...with_(LOOP, '--fault zero-before'),
      found: 'update/gradients-reach-the-step',
      says: /were set to nothing at steps\/loop\.py:\d+, after the backward pass and before step\(\) at steps/,
    },
    'zero_grad in each micro-batch': {
      ...with_(LOOP, '--fault zero-each'),
      found: 'update/every-micro-batch-reaches-the-step',
      says: /Step 0 has only 1 of its 2 micro-batches.* at steps\/loop\.py:\d+/,
    },
    'no zero_grad': {
      ...with_(LOOP, '--fault no-zero'),
      found: 'update/no-gradient-is-used-twice',
      says: /still there, to the bit.*step\(\) at steps\/loop\.py:\d+: 29 of 29 tensors/,
    },
    'step() twice': {
      ...with_(LOOP, '--fault again'),
      found: 'update/no-gradient-is-used-twice',
      says: /no backward pass between/,
    },
    'an optimiser of a model that was copied': {
      ...with_(LOOP, '--fault copied'),
      found: HOLDS,
      says: /holds 29 tensors, none of which is the model's, and none of them has a gradient/,
    },
    'embeddings resized behind the optimiser': {
      ...with_(LOOP, '--fault resized'),
      found: HOLDS,
      says: /no optimiser holds .*lm_head\.weight/,
    },
    'copies in float32 that are not written back': {
      ...with_(SHAPE, 'master --fault'),
      found: HOLDS,
      says: /not written back into the model/,
    },
    'a tensor that is put back behind each step': {
      ...with_(LOOP, '--fault unmoved'),
      found: 'update/every-tensor-moves',
      says: /left 1 tensor as it was.*model\.layers\.1\.mlp\.up_proj\.weight/,
    },
    'a tensor in two optimisers': {
      ...with_(SHAPE, 'two-optimisers --fault'),
      found: 'update/one-optimiser-a-tensor',
      says: /updated twice at steps\/shapes\.py:\d+/,
    },
    'a detach() between two layers': {
      ...with_(LOOP, '--fault cut'),
      found: 'update/gradients-reach-every-layer',
      says: /comes down to model\.layers\.1 and no further: model\.layers\.0 has none/,
    },
    'adapters by hand whose base moves': {
      words: 'steps/lora.py --fault unfrozen',
      found: 'update/what-is-frozen-stays',
      says: /moved 2 tensors that adapters stand beside: layers\.0\.attention\.out\.base\.weight/,
    },
    'adapters by hand whose freeze does nothing': {
      words: 'steps/lora.py --fault in-vain',
      found: 'update/what-is-frozen-stays',
      says: /requires_grad = False is set on the model, which freezes nothing/,
    },
    'an optimiser of one norm, in a strict run': {
      words: 'steps/lora.py --fault head-alone',
      options: '--strict',
      found: 'update/gradients-reach-every-layer',
      says: /with a gradient are in no optimiser that stepped/,
    },
    'evaluation mode that is left on': {
      ...with_(SCORING, '--fault left-eval'),
      found: 'update/scoring-is-without-dropout',
      says: /From step 1 on the model is trained in evaluation mode: dropout of 0\.2 is off/,
    },
    'a freeze that never happened': {
      ...with_(LOOP, '--fault no-freeze'),
      found: 'update/what-is-frozen-stays',
      says: /requires_grad = False is set on model\.embed_tokens, which freezes nothing/,
    },
    ...Object.fromEntries(
      (
        [
          ['thawed', /\d+ tensors that were frozen until then require a gradient and move in step 1/],
          ['thawed-in-part', /1 tensor that was frozen until then .* model\.embed_tokens\.weight/],
          ['thawed-by-hand', /tensors that were frozen until then .* model\.layers\.0\./],
        ] as const
      ).map(([fault, says]) => [
        `a freeze that is undone between steps, in a strict run: ${fault}`,
        {
          ...with_(LOOP, `--fault ${fault}`),
          options: `${ANSWERS} --strict`,
          found: 'update/what-is-frozen-stays',
          says,
        },
      ]),
    ),
    'adapters whose base moves': {
      ...with_(SHAPE, 'adapters --fault'),
      found: 'update/what-is-frozen-stays',
      says: /moved 2 tensors that adapters stand beside.*up_proj\.base_layer\.weight/,
    },
    'tied weights that are two': {
      ...with_(LOOP, '--fault untied'),
      found: 'update/tied-weights-are-one',
      says: /model\.embed_tokens\.weight, lm_head\.weight are two tensors/,
    },
    'weights initialised again behind loading': {
      ...with_(LOADED, '--fault reset'),
      found: 'update/training-begins-with-what-was-loaded',
      says: /of \d+ tensors that were loaded at steps\/loaded\.py:\d+ have nothing in common/,
    },
    'a checkpoint whose names do not fit': {
      ...with_(LOADED, '--fault prefix'),
      found: 'update/training-begins-with-what-was-loaded',
      says: /found none of the model's names.*module\./,
    },
    'weight decay by a list of names of another model': {
      ...with_(LOOP, '--fault decay'),
      found: DECAY,
      says: /decays 5 tensors by 0\.1.*input_layernorm\.weight/,
    },
    'weight decay on the biases alone': {
      ...with_(LOOP, '--fault swapped-decay'),
      found: DECAY,
      says: /none of the 15 matrices/,
    },
    ...Object.fromEntries(
      ['causal', 'is-causal', 'masked'].map((way) => [
        `packed rows whose examples see each other: ${way}`,
        {
          ...PACKED,
          words: `${PACKED.words} ${way}`,
          found: 'collate/attention-covers-exactly-the-examples',
          says: /the attention mask lets it see the examples before it in its row/,
        },
      ]),
    ),
    'a step with scaled gradients': {
      ...with_(SCHEDULE, '--scaler --fault not-unscaled'),
      found: 'update/scaler-lets-true-steps-through',
      says: /Step 0 at steps\/schedule\.py:\d+ is made with gradients that the scaler's factor 1024/,
    },
    'a scaler that leaves every step out': {
      ...with_(SCHEDULE, '--scaler --fault infinite'),
      found: 'update/scaler-lets-true-steps-through',
      says: /left out all of the \d+ steps/,
    },
    'a scheduler stepped twice': {
      ...with_(SCHEDULE, '--kind cosine --fault twice'),
      found: SCHEDULER,
      says: /stepped 2 times between step 0 and step 1/,
    },
    ...composed(' --fault twice', {
      found: SCHEDULER,
      says: /(Sequential|Chained)\w+ is stepped 2 times between/,
    }),
    'a scheduler stepped before the optimiser': {
      ...with_(SCHEDULE, '--kind cosine --fault before'),
      found: SCHEDULER,
      says: /before the first step of its optimiser/,
    },
    'a schedule of batches by epochs': {
      ...with_(SCHEDULE, '--kind onecycle --by epoch'),
      found: SCHEDULER,
      says: /OneCycleLR is not stepped/,
    },
    'a warm-up in steps, stepped by epochs': {
      ...with_(SCHEDULE, '--by epoch'),
      found: 'update/learning-rate-is-not-zero',
      says: /The learning rate of step 1.* is 0, as in each traced step before it/,
    },
    'a decay that counts micro-batches': {
      ...with_(SCHEDULE, '--kind linear --by batch --accumulate 2'),
      found: 'update/learning-rate-is-not-zero',
      says: /is 0, as in each traced step before it/,
    },
    'micro-batches that nobody divides': {
      ...with_(SCHEDULE, '--loss batch --accumulate 2 --fault undivided'),
      found: 'update/micro-batches-share-a-step',
      says: /none is divided by 2: together 2/,
    },
    'a last step of fewer micro-batches, divided by all': {
      ...with_(SCHEDULE, '--loss batch --accumulate 3 --fault short'),
      found: 'update/micro-batches-share-a-step',
      says: /Step 1 has 1 micro-batch, each divided by 3/,
    },
    'old log-probabilities with dropout': {
      ...with_(SCORING, '--fault old'),
      found: 'update/scoring-is-without-dropout',
      says: /taken from the policy in training mode, with dropout of 0\.2/,
    },
    'a reference with dropout': {
      ...with_(SCORING, '--fault reference'),
      found: 'update/scoring-is-without-dropout',
      says: /taken from the reference in training mode/,
    },
  },
};
