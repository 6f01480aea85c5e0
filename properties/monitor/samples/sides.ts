// What the engine recorded of sampled tokens against what the trainer computed, in rollout files that have both: the analysis of
// `lossproof gap`, on as many rows as it needs.
import {
  analyse,
  LEAST_ROWS,
  LEAST_TOKENS,
  type MonitorRule,
  type Rollout,
  rolloutsWithBoth,
  rowOf,
  type Sample,
  tokensOf,
  type Violation,
  type Watch,
} from '../../../src/index.ts';

export const sideRules: readonly MonitorRule[] = [
  {
    id: 'monitor/engine-and-trainer-agree',
    title: 'Nothing but rounding lies between the log-probabilities of engine and trainer',
    stage: 'monitor',
    level: 'should',
    why: 'A policy gradient divides by the probability with which a token was sampled. Where engine and trainer compute different ones (temperature, penalty, prompt, shift), ratios are wrong from the first step, and clipping hides it.',
    catches: ['LP-05'],
    advice:
      'Run `lossproof gap` on the same files: it shows the tokens, names the next best cause, and with --model the side that is wrong.',
    roles: [],
    samples: true,
    settings: {},
    watch,
  },
];

// --- helpers ---

/** A cause shows in 200 rows; more of the same say nothing new. */
const BLOCK_ROWS = 200;
const BLOCK_TOKENS = 100_000;
/** A run of days has thousands of blocks, and each takes half a second. */
const MOST_BLOCKS = 5;

function watch(): Watch {
  let block: Rollout[] = [];
  let tokens = 0;
  let first: Sample | undefined;
  let blocks = 0;
  let judged = 0;
  let told = false;
  let unexplained: string | undefined;
  let silent = 'no rollout file has the log-probabilities of both the engine and the trainer';

  function close(): Violation | undefined {
    const rows = block;
    const sample = first;
    const many = tokens;
    [block, tokens, first] = [[], 0, undefined];
    if (sample === undefined) return undefined;
    if (rows.length < LEAST_ROWS || many < LEAST_TOKENS) {
      silent = `${rows.length} rows with ${many} tokens have both sides; ${LEAST_ROWS} and ${LEAST_TOKENS} are needed`;
      return undefined;
    }
    blocks++;
    const { verdict, named } = analyse(tokensOf(rows));
    if (verdict === 'unexplained') {
      silent = 'the gap is too large for rounding, and no cause predicts it';
      unexplained ??= `The log-probabilities of engine and trainer differ by more than rounding in ${rows.length} rollouts from ${sample.where} on, and no cause predicts it. Run \`lossproof gap --model DIR\` on the same files: it shows which side departs from the weights.`;
      return undefined;
    }
    judged += rows.length;
    const [cause] = named;
    if (cause === undefined) return undefined;
    told = true;
    return {
      kind: cause.id,
      sentence: `${rows.length} rollouts from ${sample.where} on: ${cause.fit.sentence}`,
      ...(sample.step === undefined ? {} : { step: sample.step }),
      value: cause.share,
      low: 0,
      high: 0,
      sample,
    };
  }

  return {
    sample(sample) {
      if (told || blocks >= MOST_BLOCKS) return undefined;
      const rows = rolloutsWithBoth(rowOf(sample), sample.where);
      if (rows.length === 0) return undefined;
      first ??= sample;
      block.push(...rows);
      tokens += rows.reduce((sum, { ids }) => sum + ids.length, 0);
      return block.length >= BLOCK_ROWS || tokens >= BLOCK_TOKENS ? close() : undefined;
    },
    end: close,
    judged: () => judged,
    remarks: () => (unexplained === undefined ? [] : [unexplained]),
    why: () => (judged > 0 ? undefined : silent),
  };
}
