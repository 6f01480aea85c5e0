// Absolute scale, signs and pairs: declared aggregations, preference pairs, baselines, stops.
import { CHATS, PREFERENCES } from '../data.ts';
import { tokenMean } from '../exact.ts';
import type { Cases } from '../kinds.ts';

const SFT = 'shares/sft.py --data {data}';
const PAIRS = 'shares/pairs.py --data {data}';
const POLICY = 'shares/policy.py';
const GROUPS = 'shares/groups.py';
const BOTH = 'shares/both.py --data {data}';
const PAIR_DATA = '--dataset {data} --tokenizer {qwen}';
const said = (semantics: object): string => `--semantics ${JSON.stringify(semantics)}`;
const TOKEN_MEAN = said({ sft_aggregation: 'token-mean' });
const DPO = `${PAIR_DATA} ${said({ preference_objective: 'dpo' })}`;
const GROUP = { advantage_baseline: 'group-mean', kl_coef: 0 };
const SEQ_MEAN = said({ ...GROUP, loss_aggregation: 'seq-mean-token-mean' });

const GROUP_MEAN = said({ advantage_baseline: 'group-mean', loss_aggregation: 'token-mean' });
const WITH_KL = said({
  advantage_baseline: 'group-mean',
  loss_aggregation: 'token-mean',
  kl_coef: 0.04,
  kl_estimator: 'k3',
  kl_clamp: null,
});

const FOLLOWS = 'trace/weights-follow-the-aggregation';
const ALIKE = 'trace/steps-weigh-alike';
const SIGNS = 'trace/chosen-up-rejected-down';
const SIZES = 'trace/pairs-weigh-alike';
const MARGINS = 'trace/margins-are-against-the-reference';
const MICRO = 'loss/independent-of-micro-batches';
const KL = 'kl/equals-the-estimator';
const RATIO = 'update/first-ratio-is-one';
const CENTRED = 'trace/advantages-are-centred';
const OTHERS = 'trace/advantages-are-of-their-prompt';
const RENDERED = 'tokenize/sft-and-rl-tokenize-the-same-prompt';

/** Four chats of one turn, none as long as another. */
const SHORT = [
  ['two plus two', 'four'],
  ['Name a colour.', 'a deep blue, like the sea'],
  ['How warm is it?', 'It is warm: 21 degrees.'],
  ['Say nothing but yes.', 'yes it is, and it has been so for a long time now'],
].map(([question, answer]) => ({
  messages: [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ],
}));

export const shares: Cases = {
  clean: {
    'a token mean, declared': {
      words: `${SFT} --accumulate 2`,
      data: CHATS,
      options: TOKEN_MEAN,
      exact: tokenMean(CHATS),
    },
    'losses that are added up, and gradients that are divided by the tokens behind them': {
      words: `${SFT} --accumulate 2 --divide`,
      data: CHATS,
      options: TOKEN_MEAN,
    },
    'one row a micro-batch, each with a mean of its own: a mean over rows as well': {
      words: `${SFT} --mean batches --rows 1 --accumulate 2`,
      data: CHATS,
      says: /With one row in each micro-batch this is a mean over rows/,
    },
    'a mean over rows, undeclared': { words: `${SFT} --mean rows`, data: CHATS },
    'a coefficient before a declared token mean': {
      words: `${SFT} --coefficient 0.3`,
      data: CHATS,
      options: TOKEN_MEAN,
      says: /add up to 0\.3 and not to 1/,
    },
    'a supervised micro-batch taken times 0': {
      words: `${SFT} --accumulate 2 --skip`,
      data: CHATS,
      says: /its loss is multiplied by 0, or all of its labels are ignored/,
    },
    'DPO by hand that nobody declares': {
      words: PAIRS,
      data: PREFERENCES,
      says: /may be a loss of preference pairs.* Add --dataset FILE.*"preference_objective":"dpo"/,
    },
    'DPO by hand': { words: PAIRS, data: PREFERENCES, options: DPO },
    'DPO by hand on four pairs': { words: `${PAIRS} --pairs 4`, data: PREFERENCES, options: DPO },
    'DPO with another beta that nobody declares': {
      words: `${PAIRS} --pairs 4 --beta 0.02`,
      data: PREFERENCES,
    },
    'DPO with labels that may be wrong': {
      words: `${PAIRS} --pairs 4 --smoothing 0.1`,
      data: PREFERENCES,
    },
    'a policy that is stopped early': { words: `${POLICY} --epochs 2`, options: SEQ_MEAN },
    'a policy with a KL term that is declared': {
      words: `${POLICY} --mean tokens --beta 0.3`,
      options: said({
        ...GROUP,
        kl_coef: 0.3,
        kl_estimator: 'k3',
        kl_clamp: null,
        loss_aggregation: 'token-mean',
      }),
    },
    'a policy with the KL of whole completions': {
      words: `${POLICY} --mean tokens --beta 0.3 --kl sequence`,
      options: said({ ...GROUP, kl_coef: 0.3, loss_aggregation: 'token-mean' }),
    },
    'micro-batches of a policy, one mean over the step': { words: GROUPS },
    'the same, declared': { words: GROUPS, options: GROUP_MEAN },
    'micro-batches of a policy, advantages that nobody scales': { words: `${GROUPS} --unscaled` },
    'micro-batches of a policy, a mean over rows': { words: `${GROUPS} --mean rows` },
    'ratios to log-probabilities from before the step, clipped': {
      words: `${GROUPS} --clip 0.2 --temperature 1`,
    },
    'a KL to a reference that is another model': { words: `${GROUPS} --beta 0.3 --apart --temperature 1` },
    'both at once': { words: `${GROUPS} --beta 0.1 --apart --clip 0.2 --temperature 1` },
    'a mean over each micro-batch that is declared': {
      words: `${GROUPS} --mean batch`,
      options: said({ loss_normalization: 'local' }),
    },
    'a KL to a reference that is the policy yet, scored in batches of another shape': {
      words: `${GROUPS} --beta 0.04`,
      options: WITH_KL,
    },
    'completions without an end that are left out, undeclared': {
      words: `${GROUPS} --mask-cut`,
      options: GROUP_MEAN,
      says: /have no weight and no stop token: right where completions that were cut are left out/,
    },
    'a presence penalty of few tokens': {
      words: `${GROUPS} --presence 0.5 --vocabulary 24`,
      says: /32 sequences by the script's own loop at temperature 0\.7 .*drawn from logits that a penalty/,
    },
    'a presence penalty from the third token on': {
      words: `${GROUPS} --presence 0.5 --from 2 --temperature 1.3`,
    },
    'logits that are bent before each draw': {
      words: `${GROUPS} --squashed`,
      says: /The temperature of 32 sampled sequences was not read: a logits processor/,
    },
    ...Object.fromEntries(
      ['--presence 0.5', '--bias -0.7', '--bias 0.9 --presence 0.4'].map((how) => [
        `moved logits that are meant, and no penalty that counts the prompt: ${how}`,
        {
          words: `${GROUPS} ${how}`,
          options: '--strict --meant logprobs/divide-by-the-temperature',
        },
      ]),
    ),
    'a prompt whose completions all have one reward': {
      words: `${GROUPS} --without reward`,
      options: '--strict',
      says: /1 of the 4 prompts that were sampled for step 0 has no completion with a weight/,
    },
    'a prompt that is filtered out': {
      words: `${GROUPS} --without prompt`,
      options: '--strict',
      says: /1 of the 4 prompts that were sampled for step 0 stands in no trained row/,
    },
    'completions that are left out': {
      words: `${GROUPS} --without completion`,
      options: '--strict',
      says: /4 of 16 completions have no weight, though others to the same prompt have/,
    },
    'a coefficient of 0.5 over one micro-batch': { words: `${SFT} --coefficient 0.5`, data: CHATS },
    'chats, and answers sampled behind the same prompts': { words: BOTH, data: SHORT },
    'another system message where answers are sampled': {
      words: `${BOTH} --system brief`,
      data: SHORT,
      says: /another system message than the one that is taught/,
    },
  },
  faulty: {
    'pads and prompts in a declared mean': {
      words: `${SFT} --fault pads`,
      data: CHATS,
      options: TOKEN_MEAN,
      found: FOLLOWS,
      says: /trained tokens \/ \d+ padded columns: prompts and pads are in the mean/,
    },
    'pads and prompts in a mean that nobody declares': {
      words: `${SFT} --fault pads`,
      data: CHATS,
      found: ALIKE,
      says: /the denominator counts prompts and pads/,
    },
    'gradients that are divided by padded columns behind them': {
      words: `${SFT} --accumulate 2 --divide --fault by-columns`,
      data: CHATS,
      options: TOKEN_MEAN,
      found: FOLLOWS,
      says: /trained tokens \/ \d+ padded columns/,
    },
    'accumulation that is not divided by': {
      words: `${SFT} --accumulate 2 --fault unscaled`,
      data: CHATS,
      options: TOKEN_MEAN,
      found: FOLLOWS,
      says: /add up to 2 instead of 1: it is not divided by the 2 micro-batches/,
    },
    'a last window that is divided by the full count': {
      words: `${SFT} --accumulate 2 --fault window`,
      data: CHATS,
      options: TOKEN_MEAN,
      found: FOLLOWS,
      says: /it is divided by 2 micro-batches, and 1 was accumulated/,
    },
    'answers without their stop token': {
      words: `${SFT} --fault no-stop`,
      data: SHORT,
      found: 'tokenize/stop-token-is-trained',
      says: /no answer of the script has its stop token/,
    },
    'a row of each batch that is left out': {
      words: `${SFT} --fault left-out`,
      data: CHATS,
      found: 'tokenize/answer-is-trained',
      says: /\(id \d+\)/,
    },
    'chosen and rejected swapped': {
      words: `${PAIRS} --fault swapped`,
      data: PREFERENCES,
      options: PAIR_DATA,
      found: SIGNS,
      says: /the two are swapped, or the loss has the wrong sign/,
    },
    'the sign of the preference loss turned': {
      words: `${PAIRS} --fault flipped`,
      data: PREFERENCES,
      options: PAIR_DATA,
      found: SIGNS,
      says: /the two are swapped, or the loss has the wrong sign/,
    },
    'a rejected answer without a gradient': {
      words: `${PAIRS} --fault one-sided`,
      data: PREFERENCES,
      options: PAIR_DATA,
      found: SIGNS,
      says: /only the chosen one is in the loss/,
    },
    'DPO on means over the tokens': {
      words: `${PAIRS} --fault averaged`,
      data: PREFERENCES,
      options: DPO,
      found: SIZES,
      says: /means over the \d+ and \d+ tokens/,
    },
    'a chosen answer beside the rejected one of another question': {
      words: `${PAIRS} --fault mispaired`,
      data: PREFERENCES,
      options: DPO,
      found: SIZES,
      says: /weighs what the rejected answer of example \d does/,
    },
    ...Object.fromEntries(
      [
        ['--fault turned', 'swapped'],
        ['--fault turned --beta 0.02', 'swapped'],
        ['--fault rolled', 'another pair'],
        ['--fault mean', 'means over tokens'],
      ].map(([how, says = '']) => [
        `a margin against something else than the reference: ${how}`,
        {
          words: `${PAIRS} --pairs 4 ${how}`,
          data: PREFERENCES,
          found: MARGINS,
          says: new RegExp(says),
        },
      ]),
    ),
    ...Object.fromEntries(
      [
        ['--beta 0.3 --apart --fault other-rows', KL, 'another row'],
        ['--beta 0.3 --apart --fault other-columns', KL, 'the column beside'],
        ['--beta 0.05 --apart --unscaled --fault other-rows', KL, 'another row'],
        ['--clip 0.2 --fault old-of-other-rows', RATIO, 'another row'],
        ['--clip 0.2 --fault old-of-other-columns', RATIO, 'the column beside'],
        ['--clip 1e9 --unscaled --fault old-of-other-rows', RATIO, 'another row'],
        ['--clip 1e9 --fault old-shifted-ahead', RATIO, 'the column beside'],
      ].map(([how = '', found = '', says = '']) => [
        `scores that are not those of their tokens: ${how}`,
        { words: `${GROUPS} --temperature 1 ${how}`, found, says: new RegExp(`those of ${says}`) },
      ]),
    ),
    'DPO without its reference': {
      words: `${PAIRS} --pairs 4 --fault free`,
      data: PREFERENCES,
      options: DPO,
      found: MARGINS,
      says: /the reference is left out/,
    },
    'a reference that is the model itself': {
      words: `${PAIRS} --fault alias`,
      data: PREFERENCES,
      options: DPO,
      found: 'trace/reference-is-not-the-policy',
      says: /the trained model itself/,
    },
    'rewards without their baseline': {
      words: `${POLICY} --fault uncentred`,
      options: said(GROUP),
      found: CENTRED,
      says: /All of them are pushed up/,
    },
    ...Object.fromEntries(
      ['--vocabulary 24', '--vocabulary 64', '--vocabulary 20 --from 3'].map((how) => [
        `a temperature that is forgotten under a presence penalty: ${how}`,
        {
          words: `${GROUPS} --presence 0.5 ${how} --scored-at 1`,
          found: 'logprobs/divide-by-the-temperature',
          says: /was sampled at temperature 0\.7 and is scored at 1/,
        },
      ]),
    ),
    ...Object.fromEntries(
      [
        '--presence 0.5 --from 0 --prompt-too',
        '--presence 0.9 --from 0 --prompt-too --temperature 1.2',
        '--repetition 1.4',
      ].map((how) => [
        `a penalty that counts the prompt: ${how}`,
        {
          words: `${GROUPS} ${how}`,
          options: '--strict',
          found: 'logprobs/divide-by-the-temperature',
          says: /drawn with tokens of its prompt moved: the penalty counts the prompt/,
        },
      ]),
    ),
    'a mask that begins with the last token of the prompt': {
      words: `${GROUPS} --fault begins-early`,
      found: 'mask/prompt-is-never-trained',
      says: /belongs to the prompt/,
    },
    'a mask that begins with the second token of the completion': {
      words: `${GROUPS} --fault begins-late`,
      found: 'mask/every-completion-token-is-trained',
      says: /must be trained, but it is not/,
    },
    'a mask that ends one token early': {
      words: `${GROUPS} --fault ends-early`,
      found: 'mask/every-completion-token-is-trained',
      says: /is not trained, while other tokens of that completion are/,
    },
    'a mean over each micro-batch of a policy that nobody declares': {
      words: `${GROUPS} --fault means-of-means`,
      found: MICRO,
      says: /fit a mean over the tokens of each micro-batch \([\d, ]+ tokens in step 0\), and no mean over the step/,
    },
    'the same, of advantages that nobody scales': {
      words: `${GROUPS} --fault means-of-means --unscaled`,
      found: MICRO,
      says: /fit a mean over the tokens of each micro-batch/,
    },
    'the same under a declared token mean': {
      words: `${GROUPS} --fault means-of-means`,
      options: GROUP_MEAN,
      found: FOLLOWS,
      says: /fit a mean over the tokens of each micro-batch/,
    },
    'means of micro-batches that are added up under a declared token mean': {
      words: `${GROUPS} --fault sum-of-means`,
      options: GROUP_MEAN,
      found: FOLLOWS,
      says: /fit a mean over the tokens of each micro-batch/,
    },
    'a baseline over the wrong axis, with a KL term': {
      words: `${GROUPS} --fault wrong-axis --beta 0.04`,
      options: WITH_KL,
      found: CENTRED,
      says: /do not add up to 0/,
    },
    'a baseline over the wrong axis, of completions that all are cut': {
      words: `${GROUPS} --fault wrong-axis --stops -9`,
      options: GROUP_MEAN,
      found: CENTRED,
      says: /do not add up to 0/,
    },
    'a baseline over the wrong axis, with nothing declared': {
      words: `${GROUPS} --fault wrong-axis`,
      found: OTHERS,
      says: /over every 4th row \(rows 0, 4, 8, 12, and so on\), which answer different prompts/,
    },
    'the same in a mean over rows': {
      words: `${GROUPS} --fault wrong-axis --mean rows`,
      found: OTHERS,
      says: /over every 4th row/,
    },
    'no baseline, of rewards that are often 0': {
      words: `${GROUPS} --fault no-baseline --unscaled`,
      options: GROUP_MEAN,
      found: CENTRED,
      says: /All of them are pushed up/,
    },
    'a mean over the step that is divided by its micro-batches': {
      words: `${SFT} --accumulate 2 --fault twice`,
      data: CHATS,
      found: ALIKE,
      says: /add up to 0\.5, as where a mean over the step is divided by its 2 micro-batches once more/,
    },
    'an advantage that grows along its completion': {
      words: `${POLICY} --fault ramp`,
      options: said(GROUP),
      found: 'trace/one-weight-a-completion',
      says: /a completion has one advantage/,
    },
    'a token mean under the name of a mean over rows': {
      words: `${POLICY} --fault token-mean`,
      options: SEQ_MEAN,
      found: FOLLOWS,
      says: /Read as a token-mean of the step they do/,
    },
    'supervised rows without the template of the prompts': {
      words: `${BOTH} --fault bare-rows`,
      data: SHORT,
      found: RENDERED,
      says: /are written without the chat template/,
    },
    'prompts without the header that opens an answer': {
      words: `${BOTH} --fault no-header`,
      data: SHORT,
      found: RENDERED,
      says: /end without the header that opens an answer/,
    },
    'prompts with a BOS that no supervised row has': {
      words: `${BOTH} --fault two-bos`,
      data: SHORT,
      found: RENDERED,
      says: /begin with 1 BOS, and the supervised rows with 0/,
    },
  },
};
