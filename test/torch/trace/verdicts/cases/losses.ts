// Losses that are more than log-probabilities of single targets: smoothing, caps, teachers, entropy, gradients by hand.
import { ANSWERS, ELSEWHERE, HF } from '../correct.ts';
import { CHATS, PAIRS } from '../data.ts';
import { tokenMean } from '../exact.ts';
import type { Cases, CleanCase, FaultyCase } from '../kinds.ts';

const TERMS = 'losses/terms.py --data {data} --shape';
const MEAN = `${ANSWERS} --semantics {"sft_aggregation":"token-mean"}`;

const clean = (shape: string, more: Partial<CleanCase> = {}): CleanCase => ({
  words: `${TERMS} ${shape}`,
  data: PAIRS,
  options: MEAN,
  exact: tokenMean(PAIRS),
  ...more,
});

const found = (shape: string, fault: string, [id, says]: readonly [string, RegExp]): FaultyCase => ({
  words: `${TERMS} ${shape} --fault ${fault}`,
  data: PAIRS,
  options: MEAN,
  found: id,
  says,
});

const unknown = (shape: string, sentence: RegExp): FaultyCase => ({
  words: `${TERMS} ${shape}`,
  data: PAIRS,
  options: ANSWERS,
  unknown: sentence,
});

/** A term on the size of the logits that makes them larger. */
const gained = (fault: string): FaultyCase => ({
  words: `${TERMS} z-gain ${fault}`.trim(),
  data: PAIRS,
  options: MEAN,
  found: 'trace/large-logits-are-not-rewarded',
  says: /has a term that falls as the logits grow: a z-loss with the wrong sign/,
});

const FUSED = 'losses/fused.py --data {data}';

const fused = (more: string, strict = true): CleanCase => ({
  words: `${FUSED} ${more}`,
  data: PAIRS,
  options: strict ? `${MEAN} --strict` : ANSWERS,
});

const lost = (more: string, id: string, says: RegExp, options = ANSWERS): FaultyCase => ({
  words: `${FUSED} ${more}`,
  data: PAIRS,
  options,
  found: id,
  says,
});

const OF_LOSS = 'update/gradient-is-that-of-the-loss';
const OF_HEAD = 'update/head-gradient-is-of-its-calls';
const PROMPT = ['tokenize/prompt-is-not-trained', /belongs to the prompt/] as const;
const SPREAD = [PROMPT[0], /belongs to the prompt of .* but label\s+smoothing is spread over all/s] as const;
const SPREAD_PADS = [
  'mask/padding-is-never-trained',
  /is padding in .* but label\s+smoothing is spread over all/s,
] as const;
const STOP = ['tokenize/stop-token-is-trained', /is not trained itself/] as const;
const PADS = ['mask/padding-is-never-trained', /is padding/] as const;
const SHARES = ['trace/weights-follow-the-aggregation', /token-mean/] as const;
const TARGET = 'trace/target-is-the-next-token';
const SAME = [TARGET, /the token that the model had just read/] as const;
const NEXT = [TARGET, /the token after the one that follows/] as const;
const ROW = [TARGET, /the token of row/] as const;

export const losses: Cases = {
  clean: {
    'a softcap inside of a model that returns only the loss': clean('cap-inside', {
      says: /loss softcap 15/,
    }),
    'a softcap on what the model returns': clean('cap-returned'),
    'a softcap in the loss function': clean('cap-in-loss', { says: /loss softcap 15/ }),
    'label smoothing': clean('smoothing', { says: /loss label smoothing 0\.1/ }),
    'label smoothing, read off the hidden states': clean('hidden', { says: /loss label smoothing 0\.1/ }),
    'half cross-entropy, half a teacher': clean('distilled', {
      exact: tokenMean(PAIRS, undefined, 0.5),
      says: /0\.5 cross-entropy \+ 0\.5 KL to model \d at temperature 1\.5/,
    }),
    'a teacher and nothing else': {
      words: `${TERMS} pure`,
      data: PAIRS,
      options: MEAN,
      says: /loss 1 KL to model \d at temperature 1\.5 \(with the factor T²; 2\.25 without it\), and no target tokens/,
    },
    'an entropy bonus': clean('entropy', { says: /entropy term 0\.02 \(the loss rewards entropy\)/ }),
    'a z-loss': clean('z-loss', { says: /loss a term on the size of the logits \(a z-loss\) step/ }),
    'a z-loss on every position': clean('z-loss --fault everywhere', {
      says: /loss a term on the size of the logits \(a z-loss\) step/,
    }),
    'a z-loss on prompts as well': clean('z-loss --fault everywhere-but-pads', {
      says: /loss a term on the size of the logits \(a z-loss\) step/,
    }),
    'an entropy bonus on every position': clean('entropy --fault everywhere', {
      says: /loss entropy term 0\.\d+ \(the loss rewards entropy\) step/,
    }),
    'two heads, of the next token and of the next but one': clean('two-heads', { tells: 'beside' }),
    'a value head': clean('value-head', { tells: 'beside' }),
    'a fused loss': fused('--clip 0.1'),
    'a fused loss under a gradient scaler, with a tied head': fused('--scaler --tied --clip 0.1'),
    'a loss by the logits, with a tied head': fused('--shape logits --tied --scaler'),
    'a fused loss with a coefficient': fused('--coefficient 0.3', false),
    'a term beside the likelihood': fused('--shape aux', false),
    'gradients put together by hand': clean('grads'),
    'the same, of a script whose tensors lie on a GPU by default': {
      words: `${ELSEWHERE} ${TERMS} grads`,
      data: PAIRS,
      options: MEAN,
    },
    'gradients put together in a way of its own': {
      words: `${TERMS} grads --fault surgery`,
      data: PAIRS,
      options: MEAN,
      says: /what of them the optimiser got is not known/,
    },
    'the same, of rows that nobody knows: right targets alone are no pass': {
      words: `${TERMS} grads --fault surgery`,
      data: PAIRS,
      nothing: true,
      says: /No verdict: \d+ properties hold, and none of them says which tokens should be trained/,
    },
  },
  faulty: {
    'capped inside: no shift': found('cap-inside', 'same-token', SAME),
    'capped inside: the prompt': found('cap-inside', 'prompt', PROMPT),
    'capped inside: the stop token': found('cap-inside', 'stop', STOP),
    'capped inside: the first token counts twice': found('cap-inside', 'first-twice', SHARES),
    'capped in the loss: padding': found('cap-in-loss', 'pads', PADS),
    'smoothed: two shifts': found('smoothing', 'next-but-one', NEXT),
    'smoothed: the prompt': found('smoothing', 'prompt', PROMPT),
    'smoothed: padding': found('smoothing', 'pads', PADS),
    'smoothed, where labels are ignored as well': found('smoothing', 'everywhere', SPREAD),
    'smoothed, where labels are ignored: padding': found('smoothing', 'everywhere', SPREAD_PADS),
    'smoothed, on prompts as well': found('smoothing', 'everywhere-but-pads', SPREAD),
    'smoothed by the hidden states, where labels are ignored as well': found('hidden', 'everywhere', SPREAD),
    'smoothed: the first token counts twice': found('smoothing', 'first-twice', SHARES),
    "smoothed by transformers' Trainer: the prompt": {
      words: `${HF} --smoothing 0.1 --fault prompt`,
      data: CHATS,
      found: PROMPT[0],
      says: PROMPT[1],
    },
    'smoothed, by the hidden states: the prompt': found('hidden', 'prompt', PROMPT),
    'distilled: the prompt': found('distilled', 'prompt', PROMPT),
    'distilled: the stop token': found('distilled', 'stop', STOP),
    "distilled: another row's labels": found('distilled', 'another-row', ROW),
    'distilled: the first token counts twice': found('distilled', 'first-twice', SHARES),
    'distilled: no shift': found('distilled', 'same-token', SAME),
    'with an entropy bonus: the prompt': found('entropy', 'prompt', PROMPT),
    'with an entropy bonus: no shift': found('entropy', 'same-token', SAME),
    'with an entropy bonus: padding': found('entropy', 'pads', PADS),
    'with an entropy bonus: the first token counts twice': found('entropy', 'first-twice', SHARES),
    'a z-loss with the other sign': gained(''),
    'the same on every position': gained('--fault everywhere'),
    'the same on prompts as well': gained('--fault everywhere-but-pads'),
    'put together by hand: without their factors': found('grads', 'factors', SHARES),
    'put together by hand: no shift': found('grads', 'same-token', SAME),
    'put together by hand: padding': found('grads', 'pads', PADS),
    'put together by hand: the prompt': found('grads', 'prompt', PROMPT),
    'fused: the factor behind the loss is ignored': lost(
      '--fault ignored',
      OF_LOSS,
      /the gradient is not that of the loss, but \d+ (to \d+ )?times that/,
    ),
    'fused: the same by micro-batches': lost(
      '--shape mean --fault ignored',
      OF_LOSS,
      /the gradient is not that of the loss/,
    ),
    'fused: the factor behind the loss is used twice': lost(
      '--fault twice --scaler',
      OF_LOSS,
      /the gradient is not that of the loss/,
    ),
    'a gradient of the logits that is added up twice': lost(
      '--shape logits --fault doubled',
      OF_LOSS,
      /2 times that/,
    ),
    'fused: the head alone ignores the factor': lost(
      '--fault head-undivided',
      OF_HEAD,
      /gradient of the head's weight is \d+ times the sum/,
    ),
    'a gradient of the head that is added up twice, and clipped': lost(
      '--shape plain --fault head-twice --clip 0.1',
      OF_HEAD,
      /is 2 times the sum/,
    ),
    'fused: the head has the gradient of the last chunk, in a strict run': lost(
      '--fault last-chunk',
      OF_HEAD,
      /another one than the sum/,
      `${ANSWERS} --strict`,
    ),
    'a teacher that is no model': unknown(
      'unseen-teacher',
      /the loss is over the whole vocabulary|in a way that is not recognised/,
    ),
    'a term of its own': unknown(
      'unknown',
      /depends on the whole vocabulary in a way that is not recognised/,
    ),
  },
};
