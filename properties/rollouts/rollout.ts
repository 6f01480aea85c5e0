// From conversation through generation to the batch that is scored: the ids scored must be the ids sampled, behind
// the very prompt that the sampler was given.
import {
  type Args,
  chatTemplate,
  type Finding,
  type Ids,
  LOST_STOP_ADVICE,
  layRows,
  type MaskedRow,
  nameOf,
  type Property,
  type Ragged,
  type Role,
  type Rollouts,
  rolloutLabels,
  rollouts,
  type Subject,
  sameIds,
  stripOf,
  takenBy,
  tokenAt,
  trainsCompletion,
  type World,
} from '../../src/index.ts';
import { rendered } from '../text/conversation.ts';

export const needsTokens = (world: World): string | undefined =>
  world.hello.tokens === undefined
    ? "hello.tokens is needed: the sampled ids must be ids of the trainer's vocabulary"
    : undefined;

const given = (world: World) =>
  rollouts(world.hello.tokens, {
    ...takenBy(world, 'rollout'),
    unfinished: world.hello.ops.rollout?.unfinished === true,
  });

interface Scored {
  readonly prompts: Ragged;
  readonly rows: readonly MaskedRow[];
}

/** What the sampler is made to emit: what never stopped goes on to the limit, as a sampler would, unless it never began. */
export function emitted(subject: Subject, { rows }: Rollouts): Ids[] {
  const width = Math.max(...rows.map(({ sampled: ids }) => ids.length));
  const stops = subject.hello.tokens?.eos_token_ids ?? [];
  return rows.map(({ sampled: ids }) =>
    ids.length === 0 || stops.includes(ids.at(-1) ?? -1)
      ? ids
      : [...ids, ...Array.from({ length: width - ids.length }, () => ids[0] ?? 0)],
  );
}

export const rolloutArgs = (subject: Subject, drawn: Rollouts): Args<'rollout'> => ({
  conversations: drawn.rows.map(({ messages }) => messages),
  sampled_ids: emitted(subject, drawn),
});

async function scored(subject: Subject, drawn: Rollouts): Promise<Scored> {
  const stops = subject.hello.tokens?.eos_token_ids ?? [];
  const args = rolloutArgs(subject, drawn);
  const { prompt_ids: prompts, ...answer } = await subject.ask('rollout', args);
  const rows = layRows(prompts, args.sampled_ids, subject.hello.tokens?.pad_token_id ?? 0, stops, {
    ids: answer.input_ids,
    attention: answer.attention_mask,
    mask: answer.completion_mask,
  });
  return { prompts, rows };
}

/** The tokens of a scored row that the model attends to. */
const attended = (row: MaskedRow): Ids => row.ids.filter((_, column) => row.attention?.[column] !== 0);

export const base = {
  stage: 'rollout',
  level: 'must',
  ops: ['rollout'],
  given,
  labels: (drawn: Rollouts, world: World) => rolloutLabels(drawn, world.hello.tokens?.eos_token_ids),
  coverage: { 'several rows': 0.3, 'repeated prompt': 0.15 },
} as const;

function rowFinding(
  subject: Subject,
  row: MaskedRow,
  kind: string,
  expected: Ids,
  observed: Ids,
  words: (difference: string) => string,
  [expectedName, observedName]: readonly [string, string] = ['sampled from', 'scored'],
): Finding {
  const width = Math.max(expected.length, observed.length);
  const ids = Array.from({ length: width }, (_, at) => observed[at] ?? expected[at] ?? 0);
  const at = Array.from({ length: width }, (_, index) => index);
  const marks = at.filter((index) => expected[index] !== observed[index]);
  return {
    kind,
    sentence: words(tokenAt(subject, ids, marks[0] ?? 0)),
    strips: [
      stripOf(subject, {
        row: row.row,
        ids,
        roles: at.map((index): Role => (index < row.prompt.length ? 'prompt' : 'completion')),
        tracks: {
          [expectedName]: at.map((index) => expected[index]),
          [observedName]: at.map((index) => observed[index]),
        },
        marks,
      }),
    ],
  };
}

/** Other ids of the same text; special tokens aside, which a decoder may leave out. */
function hasTextOf({ tokenizer }: Subject, sampled: Ids, observed: Ids): boolean {
  if (tokenizer === undefined) return false;
  const text = (ids: Ids): string => tokenizer.decode(ids.filter((id) => !tokenizer.specialIds.has(id)));
  return !sameIds(sampled, observed) && text(sampled) !== '' && text(sampled) === text(observed);
}

function lostStopFinding(subject: Subject, row: MaskedRow, stop: number): Finding {
  const sampledIds = [...row.prompt, ...row.completion, stop];
  const finding = rowFinding(
    subject,
    row,
    'stop lost',
    sampledIds,
    attended(row).slice(0, sampledIds.length - 1),
    () =>
      `The completion scored in row ${row.row} lacks the stop token ${nameOf(subject, stop)} (id ${stop}) that was sampled at its end.`,
  );
  return { ...finding, advice: LOST_STOP_ADVICE };
}

const promptScored: Property<Rollouts> = {
  ...base,
  id: 'rollout/scored-prompt-is-the-prompt-generated-from',
  title: 'Log-probabilities and KL are computed after exactly the prompt ids that the sampler was given',
  why: 'If completions are scored after the unformatted prompt, every ratio and every KL is for a distribution that nothing was sampled from.',
  catches: ['TPL-07', 'TOK-07', 'TOK-01', 'TRN-03'],
  async check(subject, drawn) {
    for (const row of (await scored(subject, drawn)).rows) {
      if (row.plan !== undefined) continue;
      const real = attended(row);
      if (sameIds(real.slice(0, row.prompt.length), row.prompt)) continue; // the completion is at fault
      return rowFinding(
        subject,
        row,
        'prompt',
        [...row.prompt, ...row.completion],
        real,
        (token) =>
          `The prompt scored in row ${row.row} is not the prompt generated from: they part at ${token}.`,
      );
    }
    return undefined;
  },
};

const idsScored: Property<Rollouts> = {
  ...base,
  id: 'rollout/scored-ids-are-sampled-ids',
  title: 'The completion ids that are scored are exactly the ids that were sampled',
  why: 'Ids that went through text and back are other ids: the policy is trained on tokens it never chose.',
  catches: ['MT-01', 'TOK-07', 'TOK-05', 'EOS-06', 'EOS-11'],
  async check(subject, drawn) {
    for (const row of (await scored(subject, drawn)).rows) {
      const real = attended(row);
      const whole = [...row.prompt, ...row.completion];
      const end = real.slice(real.length - row.completion.length);
      const promptIsThere = sameIds(real.slice(0, row.prompt.length), row.prompt);
      // Where pad is a stop token, a stop that was appended looks like padding: only that it is attended to tells.
      const appended = real.length > whole.length && sameIds(real.slice(0, whole.length), whole);
      if (row.lostStop !== undefined) return lostStopFinding(subject, row, row.lostStop);
      if (row.plan !== undefined && !appended) continue;
      if (sameIds(end, row.completion) && !promptIsThere) continue; // the prompt is at fault
      if (appended)
        return rowFinding(
          subject,
          row,
          'goes on',
          whole,
          real,
          () =>
            `The completion scored in row ${row.row} goes on after the sampled tokens: ${tokenAt(subject, real, whole.length)} was never sampled.`,
        );
      const scoredIds = real.slice(row.prompt.length);
      const again = promptIsThere && hasTextOf(subject, row.completion, scoredIds);
      return rowFinding(
        subject,
        row,
        again ? 'tokenised again' : 'completion',
        whole,
        real,
        (token) =>
          `The completion scored in row ${row.row} is not the one that was sampled: they part at ${token}${again ? ', and have the same text: it was decoded and tokenised again' : ''}.`,
      );
    }
    return undefined;
  },
};

/** What the mask of a stop token is declared to be; undefined: either, but the same in every row. */
const declaredStop = ({ semantics }: World): number | undefined =>
  semantics.stop_token_in_mask === undefined ? undefined : Number(semantics.stop_token_in_mask);

const maskCovers: Property<Rollouts> = {
  ...base,
  id: 'rollout/mask-covers-the-sampled-tokens',
  title:
    'In the scored batch, the mask is 1 on the sampled tokens, 0 on prompt and padding, and the same on every stop token',
  why: 'The mask is right only on the row it was made for.',
  catches: ['PAD-02', 'MSK-01', 'MSK-04', 'ADV-09'],
  async check(subject, drawn) {
    let stopMask = declaredStop(subject);
    for (const row of (await scored(subject, drawn)).rows) {
      if (row.plan === undefined) continue;
      const trained = Number(trainsCompletion(subject, row));
      stopMask ??= row.mask[row.roles.indexOf('stop')];
      const expected = row.roles.map((role) =>
        role === 'completion' ? trained : role === 'stop' ? stopMask : 0,
      );
      const marks = expected.flatMap((want, column) =>
        want === undefined || want === row.mask[column] ? [] : [column],
      );
      const [first] = marks;
      if (first === undefined) continue;
      return {
        kind: 'mask',
        sentence: `${tokenAt(subject, row.ids, first)} is ${row.roles[first] === 'completion' ? 'a sampled token' : row.roles[first] === 'stop' ? 'the stop token' : `${row.roles[first]}`} in row ${row.row}, but its mask is ${row.mask[first]}.`,
        strips: [stripOf(subject, { ...row, tracks: { expected, observed: row.mask }, marks })],
      };
    }
    return undefined;
  },
};

const attention: Property<Rollouts> = {
  ...base,
  id: 'rollout/attention-covers-exactly-the-real-tokens',
  title: 'In the scored batch, attention_mask is 1 on prompt and completion and 0 on padding',
  why: 'A mask inferred from ids hides the stop tokens of earlier turns where pad equals eos, and every score after them changes.',
  catches: ['EOS-02', 'PAD-02', 'LP-16'],
  async check(subject, drawn) {
    for (const row of (await scored(subject, drawn)).rows) {
      if (row.plan === undefined) continue;
      const expected = row.roles.map((role) => Number(role !== 'padding'));
      const observed = row.attention ?? [];
      const marks = expected.flatMap((want, column) => (want === observed[column] ? [] : [column]));
      const [first] = marks;
      if (first === undefined) continue;
      return {
        kind: 'attention',
        sentence: `${tokenAt(subject, row.ids, first)} is ${expected[first] === 1 ? `a real token of the ${row.roles[first]}` : 'padding'} in row ${row.row}, but its attention_mask is ${observed[first]}.`,
        strips: [stripOf(subject, { ...row, tracks: { expected, observed }, marks })],
      };
    }
    return undefined;
  },
};

const promptRendered: Property<Rollouts> = {
  ...base,
  id: 'rollout/prompt-is-the-rendered-template',
  title: 'The prompt ids given to the sampler are the tokens of the rendered chat template',
  why: 'A prompt without its template, or with one template inside another, is answered by a model that never saw such a prompt.',
  catches: ['TPL-01', 'TPL-06', 'TPL-07', 'TOK-01'],
  needs: [needsTokens, chatTemplate],
  async check(subject, drawn) {
    const { prompts, rows: laid } = await scored(subject, drawn);
    for (const [at, { messages }] of drawn.rows.entries()) {
      const text = rendered(subject, { messages, template: null }, messages, true) ?? '';
      const expected = subject.tokenizer?.encode(text) ?? [];
      const observed = prompts[at] ?? [];
      const bos = subject.tokenizer?.bosTokenId;
      const legal =
        sameIds(observed, expected) ||
        (bos !== undefined && expected[0] !== bos && sameIds(observed, [bos, ...expected]));
      const row = laid[at];
      if (legal || row === undefined) continue;
      return rowFinding(
        subject,
        row,
        'template',
        expected,
        observed,
        (token) => `The prompt of row ${at} parts from the rendered chat template at ${token}.`,
        ['template', 'prompt'],
      );
    }
    return undefined;
  },
};

export const rolloutProperties: readonly Property<Rollouts>[] = [
  { ...promptScored, needs: [needsTokens] },
  { ...idsScored, needs: [needsTokens] },
  { ...attention, needs: [needsTokens] },
  { ...maskCovers, needs: [needsTokens] },
  promptRendered,
];
