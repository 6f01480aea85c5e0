// log_softmax of the logits that predict each token, at that token, divided by the temperature that sampled it.
import {
  type Args,
  bandOf,
  type Finding,
  isHalf,
  type LogitBatch,
  logitBatch,
  logitLabels,
  logprobsOf,
  type Matrix,
  numberFinding,
  type Property,
  type Role,
  type Strip,
  type Subject,
  show,
  stripOf,
  type World,
} from '../../src/index.ts';

/** Rows of the case as a block batch, (B, T): prompts flush right against the prompt's end, completions behind. */
export function logitArgs(
  drawn: LogitBatch,
  junk: number | undefined = undefined,
): { args: Args<'logprobs'>; roles: Role[][] } {
  const promptWidth = Math.max(...drawn.rows.map(({ prompt }) => prompt));
  const completionWidth = Math.max(...drawn.rows.map(({ prompt, tokens }) => tokens.length - prompt));
  const width = promptWidth + completionWidth;
  const nothing = Array.from({ length: drawn.vocabulary }, (_, id) =>
    junk === undefined ? 0 : id % 2 === 0 ? junk : -junk,
  );
  const laid = drawn.rows.map(({ prompt, tokens }) => {
    const start = promptWidth - prompt;
    const inside = (column: number): boolean => column >= start && column < start + tokens.length;
    const columns = Array.from({ length: width }, (_, column) => column);
    return {
      ids: columns.map((column) => tokens[column - start]?.id ?? 0),
      attention: columns.map((column) => Number(inside(column))),
      logits: columns.map((column) => tokens[column - start]?.logits ?? nothing),
      roles: columns.map(
        (column): Role => (!inside(column) ? 'padding' : column < promptWidth ? 'prompt' : 'completion'),
      ),
    };
  });
  return {
    args: {
      input_ids: laid.map(({ ids }) => ids),
      attention_mask: laid.map(({ attention }) => attention),
      logits: laid.map(({ logits }) => logits),
      prompt_width: promptWidth,
      temperature: drawn.temperature,
    },
    roles: laid.map(({ roles }) => roles),
  };
}

const given = (world: World) =>
  logitBatch({
    fine: !isHalf(world),
    temperatures:
      world.hello.ops.logprobs?.temperature === true && world.semantics.temperature_in_scoring !== false,
  });

/** Other alignments that people compute by mistake, to name the one that fits. */
const MISTAKES: readonly { readonly name: string; readonly at: (args: Args<'logprobs'>) => Matrix }[] = [
  {
    name: 'the logits at the token itself, not at the token before it (shifted left by one)',
    at: (args) => shifted(args, 0),
  },
  { name: 'the logits two tokens before (shifted twice)', at: (args) => shifted(args, -2) },
  {
    name: 'logits that were not divided by the temperature',
    at: (args) => logprobsOf(args.logits, args.input_ids, 1),
  },
  {
    name: 'logits that were multiplied by the temperature',
    at: (args) => logprobsOf(args.logits, args.input_ids, 1 / args.temperature),
  },
];

function shifted({ logits, input_ids: ids, temperature }: Args<'logprobs'>, by: number): Matrix {
  // logprobsOf reads position t-1; move the logits so that it reads t+by instead.
  const moved = logits.map((row) => row.map((_, column) => row[column + by + 1] ?? row[column] ?? []));
  return logprobsOf(moved, ids, temperature);
}

function compare(
  subject: Subject,
  args: Args<'logprobs'>,
  roles: Role[][],
  expected: Matrix,
  observed: Matrix,
): Finding | undefined {
  const band = bandOf(subject, args.logits[0]?.[0]?.length);
  const wrong = (candidate: Matrix): [number, number][] =>
    roles.flatMap((row, at) =>
      row.flatMap((role, column): [number, number][] =>
        role === 'completion' &&
        !band.close(observed[at]?.[column] ?? Number.NaN, candidate[at]?.[column] ?? Number.NaN)
          ? [[at, column]]
          : [],
      ),
    );
  const [first] = wrong(expected);
  if (first === undefined) return undefined;
  const [row, column] = first;
  const mistake = MISTAKES.find(({ at }) => wrong(at(args)).length === 0);
  const ids = args.input_ids[row] ?? [];
  return numberFinding({
    kind: mistake?.name ?? 'value',
    sentence: `The log-probability of token ${column} (id ${ids[column]}) of row ${row} is ${show(observed[row]?.[column])}; log_softmax of the logits before it gives ${show(expected[row]?.[column])}.${mistake === undefined ? '' : ` It equals what comes of ${mistake.name}.`}`,
    band,
    pairs: wrong(expected).map(([at, t]) => ({
      where: `row ${at}, token ${t}`,
      expected: expected[at]?.[t],
      observed: observed[at]?.[t],
    })),
    strips: [
      rowStrip(
        subject,
        args,
        roles,
        row,
        wrong(expected).flatMap(([at, t]) => (at === row ? [t] : [])),
        { expected, observed },
      ),
    ],
  });
}

/** One row of the case; the ids index the logits that the harness made up, and have no text. */
function rowStrip(
  subject: Subject,
  args: Args<'logprobs'>,
  roles: Role[][],
  row: number,
  marks: readonly number[],
  tracks: Readonly<Record<string, Matrix>>,
): Strip {
  const shownTracks = Object.entries(tracks).map(([name, rows]) => [name, only(rows[row], roles[row])]);
  return stripOf(subject, {
    row,
    ids: args.input_ids[row] ?? [],
    roles: roles[row] ?? [],
    tracks: Object.fromEntries(shownTracks),
    marks,
    shown: 'ids',
  });
}

const only = (
  values: readonly number[] | undefined,
  roles: readonly Role[] | undefined,
): (number | undefined)[] =>
  (values ?? []).map((value, column) => (roles?.[column] === 'completion' ? value : undefined));

const base = { stage: 'logprobs', level: 'must', ops: ['logprobs'], labels: logitLabels } as const;

export const logprobsProperties: readonly Property<LogitBatch>[] = [
  {
    ...base,
    id: 'logprobs/equal-the-reference',
    title: 'The log-probability of a token is log_softmax of the logits one position before it',
    why: 'Shifted by one, every probability is that of another token, and the ratio, the KL and the loss are noise.',
    catches: ['LP-01', 'LP-09', 'LP-11', 'MSK-04'],
    given: () => logitBatch({ temperatures: false }),
    coverage: { 'several rows': 0.3, 'unequal rows': 0.3 },
    async check(subject, drawn) {
      const { args, roles } = logitArgs(drawn);
      const { logprobs } = await subject.ask('logprobs', args);
      return compare(subject, args, roles, logprobsOf(args.logits, args.input_ids, 1), logprobs);
    },
  },
  {
    ...base,
    id: 'logprobs/divide-by-the-temperature',
    title: 'Scored at the sampling temperature: the logits are divided by it before the softmax',
    why: 'Sampled at one temperature and scored at another, the ratio is wrong from the first step.',
    catches: ['LP-05', 'LP-08'],
    needs: [
      (world) =>
        world.hello.ops.logprobs?.temperature === true
          ? undefined
          : 'op `logprobs` does not offer temperature',
      (world) =>
        world.semantics.temperature_in_scoring === false
          ? 'semantics.temperature_in_scoring is false: scores are at temperature 1'
          : undefined,
    ],
    given,
    coverage: { 'temperature other than 1': 0.3 },
    async check(subject, drawn) {
      const { args, roles } = logitArgs(drawn);
      const { logprobs } = await subject.ask('logprobs', args);
      return compare(
        subject,
        args,
        roles,
        logprobsOf(args.logits, args.input_ids, args.temperature),
        logprobs,
      );
    },
  },
  {
    ...base,
    id: 'logprobs/never-positive',
    title: 'No log-probability is above zero or not a number',
    why: 'A positive log-probability is a softmax that lost its normaliser.',
    catches: ['LP-11', 'NUM-02'],
    given,
    async check(subject, drawn) {
      const { args, roles } = logitArgs(drawn);
      const { logprobs } = await subject.ask('logprobs', args);
      const band = bandOf(subject);
      for (const [row, values] of logprobs.entries()) {
        const column = values.findIndex(
          (value, at) => roles[row]?.[at] === 'completion' && !(value <= band.absolute),
        );
        if (column >= 0)
          return {
            kind: 'positive',
            sentence: `The log-probability of token ${column} of row ${row} is ${values[column]}; it cannot be above 0.`,
            strips: [rowStrip(subject, args, roles, row, [column], { observed: logprobs })],
          };
      }
      return undefined;
    },
  },
  {
    ...base,
    id: 'logprobs/padding-does-not-matter',
    title: 'Logits at padding change no log-probability of a completion token',
    why: 'A score that reads the logits of padding depends on the batch that a row is in.',
    catches: ['PAD-09', 'NUM-02', 'LP-01'],
    given: (world) =>
      logitBatch({ temperatures: world.hello.ops.logprobs?.temperature === true, minRows: 2 }),
    coverage: { 'unequal rows': 0.3 },
    async check(subject, drawn) {
      const clean = logitArgs(drawn);
      const junk = logitArgs(drawn, JUNK);
      const before = await subject.ask('logprobs', clean.args);
      const after = await subject.ask('logprobs', junk.args);
      const band = bandOf(subject);
      for (const [row, roles] of clean.roles.entries()) {
        const column = roles.findIndex(
          (role, at) =>
            role === 'completion' &&
            !band.close(after.logprobs[row]?.[at] ?? 0, before.logprobs[row]?.[at] ?? 0),
        );
        if (column >= 0) {
          return {
            kind: 'padding',
            sentence: `The log-probability of token ${column} of row ${row} changes from ${show(before.logprobs[row]?.[column])} to ${show(after.logprobs[row]?.[column])} when only logits at padding change.`,
            strips: [
              rowStrip(subject, clean.args, clean.roles, row, [column], {
                before: before.logprobs,
                after: after.logprobs,
              }),
            ],
          };
        }
      }
      return undefined;
    },
  },
];

/** Large enough to show in any sum that reads it, small enough for float16. */
const JUNK = 1000;
