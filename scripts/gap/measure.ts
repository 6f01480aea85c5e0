// `npm run measure:gap -- --write`: how often `lossproof gap` names a planted cause first, with and without a model; how often both of two; how
// often it names one in runs of pure noise; and how long a million tokens take. Tables in docs/measurements.md.
import { parseArgs } from 'node:util';
import { analyse } from '../../src/gap/analyse.ts';
import { gapOf } from '../../src/gap/gap.ts';
import { againstModel, sidesOf } from '../../src/gap/model.ts';
import { tokensOf } from '../../src/gap/tokens.ts';
import {
  MECHANISMS,
  type Mechanism,
  mechanismOf,
  over,
  PAIRS,
  plantedOf,
  together,
} from '../../test/gap/cases.ts';
import { type Planted, rolloutsWith, type Sampled } from '../../test/gap/model.ts';
import { NOISES } from '../../test/gap/noise.ts';
import { writeMeasured } from '../docs/measured.ts';

const { values } = parseArgs({
  options: {
    /** Into docs/measurements.md; else on standard output. */
    write: { type: 'boolean', default: false },
    /** One of the tables: causes, pairs, noise, size. */
    only: { type: 'string' },
  },
});

/** Standard deviations of logits: a model that is undecided, one between, one that is sure of most tokens. */
const MODELS = [2, 3, 4];
const RUNS_OF_NOISE = 200;
const SEED = 7_100;

const WORDS: Readonly<Record<keyof typeof NOISES, string>> = {
  float32: 'float32 rounding',
  bf16: 'bf16 rounding',
  flips: 'router flips at 3 % of tokens',
  growing: 'quantised keys and values, growing along the row',
};

const MILLION = 1_000_000;

const TABLES: Readonly<Record<string, () => readonly string[]>> = { causes, pairs, noise, size };
for (const [name, table] of Object.entries(TABLES)) {
  if (values.only !== undefined && values.only !== name) continue;
  const lines = table();
  if (values.write) writeMeasured('measurements.md', `gap ${name}`, lines);
  else process.stdout.write(`${lines.join('\n')}\n\n`);
}

// --- helpers ---

interface Outcome {
  readonly first: boolean;
  readonly second: boolean;
  readonly withModel: boolean;
  readonly said: string;
}

function causes(): readonly string[] {
  const rows: string[] = [];
  const all: Outcome[] = [];
  for (const mechanism of MECHANISMS) {
    const outcomes = strengthsOf(mechanism).flatMap((strength) =>
      MODELS.map((sharpness, at) => outcomeOf(mechanism, strength, { sharpness, seed: SEED + at })),
    );
    all.push(...outcomes);
    rows.push(rowOf(mechanism.what, mechanism.cause ?? 'no verdict', strengthsOf(mechanism), outcomes));
    process.stderr.write(`${rows.at(-1)} ${outcomes.map(({ said }) => said).join('; ')}\n`);
  }
  return [
    '| planted | strengths | to be named | first | first or second | with the model folder |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    rowOf('all', '', [], all),
  ];
}

/** As they read: an object has its whole numbers first. */
function strengthsOf({ strengths }: Mechanism): readonly string[] {
  return Object.keys(strengths).sort((a, b) => Number(a) - Number(b) || a.length - b.length);
}

function outcomeOf(
  { what, cause, side }: Mechanism,
  strength: string,
  size: { readonly sharpness: number; readonly seed: number },
): Outcome {
  const rollouts = rolloutsWith(over(plantedOf(what, strength)), size);
  const { verdict, named } = analyse(tokensOf(rollouts));
  const against = againstModel(rollouts.map((rollout) => ({ rollout, model: rollout.exact })));
  if ('complaint' in against) throw new Error(against.complaint);
  const ids = named.map(({ id }) => id);
  const one = against[side].analysis;
  const others = sidesOf(against)
    .filter(({ name }) => name !== side)
    .map((each) => each.side.analysis.verdict);
  const first = cause === undefined ? verdict === 'unexplained' : ids[0] === cause;
  const withModel = cause === undefined ? one.verdict === 'unexplained' : one.named[0]?.id === cause;
  return {
    first,
    second: first || ids[1] === cause || (named[0]?.second?.id === cause && cause !== undefined),
    withModel: withModel && others.every((each) => each === 'noise'),
    said: `${strength} at ${size.sharpness}: ${ids.join(' + ') || verdict} | ${one.named.map(({ id }) => id).join(' + ') || one.verdict}/${others.join()}`,
  };
}

function rowOf(
  what: string,
  cause: string,
  strengths: readonly string[],
  outcomes: readonly Outcome[],
): string {
  const share = (of: keyof Outcome): string => {
    const many = outcomes.filter((each) => each[of] === true).length;
    return what === 'all'
      ? `**${many} of ${outcomes.length} (${Math.floor((100 * many) / outcomes.length)} %)**`
      : `${many} of ${outcomes.length}`;
  };
  const named = cause === '' || cause === 'no verdict' ? cause : `\`${cause}\``;
  return `| ${what} | ${strengths.join(', ')} | ${named} | ${share('first')} | ${share('second')} | ${share('withModel')} |`;
}

function pairs(): readonly string[] {
  let [both, ordered] = [0, 0];
  const rows = PAIRS.map(([one, strength, other, otherStrength], at) => {
    const causesOf = [mechanismOf(one).cause, mechanismOf(other).cause];
    const seed = SEED + 500 + at;
    const sizes = [
      [one, strength],
      [other, otherStrength],
    ].map(([what = '', how = '']) => meanGap(rolloutsWith(over(plantedOf(what, how)), { seed })));
    const planted = together(plantedOf(one, strength), plantedOf(other, otherStrength));
    const ids = analyse(tokensOf(rolloutsWith(over(planted), { seed }))).named.map(({ id }) => id);
    const largerFirst = (sizes[0] ?? 0) >= (sizes[1] ?? 0) ? causesOf : causesOf.toReversed();
    const isBoth = causesOf.every((cause) => ids.includes(cause ?? ''));
    const places = largerFirst.map((cause) => ids.indexOf(cause ?? ''));
    const isOrdered = isBoth && (places[0] ?? 0) < (places[1] ?? 0);
    if (isBoth) both++;
    if (isOrdered) ordered++;
    return `| ${one} ${strength} | ${other} ${otherStrength} | ${ids.map((id) => `\`${id}\``).join(', ') || 'none'} | ${isOrdered ? 'yes' : isBoth ? 'in the other order' : ''} |`;
  });
  return [
    '| one | other | named | both |',
    '| --- | --- | --- | --- |',
    ...rows,
    `| **all ${PAIRS.length}** | | **${both} both, ${ordered} of them in the order of their share** | **${Math.floor((100 * ordered) / PAIRS.length)} %** |`,
  ];
}

/** Of either alone: which of two is the larger. */
function meanGap(rollouts: readonly Sampled[]): number {
  const found = gapOf(rollouts);
  if ('complaint' in found) throw new Error(found.complaint);
  return found.comparison.meanAbs;
}

function noise(): readonly string[] {
  const rows = Object.entries(NOISES).map(([name, change]) => {
    const planted: Planted = { engine: change, trainer: change };
    let [blamed, largest] = [0, 0];
    for (let run = 0; run < RUNS_OF_NOISE; run++) {
      const rollouts = rolloutsWith(planted, {
        seed: SEED + 1000 + run,
        length: 30,
        sharpness: 2 + (run % 4),
      });
      const found = gapOf(rollouts);
      if ('complaint' in found) throw new Error(found.complaint);
      if (found.analysis.verdict !== 'noise') blamed++;
      largest = Math.max(largest, found.comparison.rms);
    }
    process.stderr.write(`${name}: ${blamed}\n`);
    return `| ${WORDS[name as keyof typeof NOISES]} | ${RUNS_OF_NOISE} | ${blamed} | ${Number(largest.toPrecision(2))} |`;
  });
  return ['| noise | runs | not called noise | largest RMS, in nats |', '| --- | --- | --- | --- |', ...rows];
}

/** Rows are repeated: what is measured is what `gap` does with them. */
function size(): readonly string[] {
  const rows = [NOISES.bf16, plantedOf('temperature below 1 in the engine', '0.7').engine].map(
    (change, at) => {
      const some = rolloutsWith(
        { engine: change ?? NOISES.bf16, trainer: NOISES.bf16 },
        { seed: SEED, rows: 400 },
      );
      const many: Sampled[] = [];
      for (let tokens = 0; tokens < MILLION; ) {
        const next = some[many.length % some.length];
        if (next === undefined) break;
        many.push(next);
        tokens += next.ids.length;
      }
      const before = process.cpuUsage();
      const found = gapOf(many);
      const { user, system } = process.cpuUsage(before);
      if ('complaint' in found) throw new Error(found.complaint);
      return `| ${['bf16 rounding', 'temperature 0.7'][at]} | ${found.comparison.tokens.toLocaleString('en')} | ${Math.ceil((user + system) / 1e6)} s | ${Math.round(process.memoryUsage().rss / 1e6)} MB |`;
    },
  );
  return ['| rollouts | tokens | CPU time | memory |', '| --- | --- | --- | --- |', ...rows];
}
