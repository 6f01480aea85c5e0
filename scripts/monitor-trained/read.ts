// What `lossproof monitor` says of each log, alone and beside a healthy run of another seed.
import { join } from 'node:path';
import { type Finetune, HEALTHY, nameOf } from '../../test/torch/monitor/finetunes.ts';
import { failedIn, type Monitored, monitored, placeOf } from '../../test/torch/monitor/runs.ts';

/** A rule that failed, and the first step that it names. */
export interface Found {
  /** Without `monitor/`. */
  readonly rule: string;
  readonly step: number | undefined;
}

export interface Reading {
  readonly exitCode: number | undefined;
  readonly found: readonly Found[];
  /** A rule of its own ended in an exception. */
  readonly broken: boolean;
}

export interface Read {
  readonly finetune: Finetune;
  /** By seed. */
  readonly alone: readonly Reading[];
  /** Each beside the healthy run of the next seed. */
  readonly beside: readonly Reading[];
}

interface Place {
  readonly folder: string;
  readonly seeds: number;
}

export async function readAll(
  finetunes: readonly Finetune[],
  { folder, seeds, compares }: Place & { readonly compares: boolean },
): Promise<readonly Read[]> {
  const all: Read[] = [];
  for (const finetune of finetunes) {
    const [alone, beside]: [Reading[], Reading[]] = [[], []];
    for (let seed = 0; seed < seeds; seed++) {
      const log = join(folder, nameOf(finetune), `seed-${seed}`);
      const healthy = logOfHealthy(finetune, { folder, seed: (seed + 1) % seeds });
      alone.push(readingOf(await monitored(log)));
      if (compares && seeds > 1) beside.push(readingOf(await monitored(log, '--baseline', healthy)));
    }
    all.push({ finetune, alone, beside });
  }
  return all;
}

/** A healthy run beside another seed of it. */
export interface Pair {
  /** `sft 0 beside 2`. */
  readonly name: string;
  readonly reading: Reading;
}

/** Each healthy run beside each other of its method. */
export async function amongHealthy(
  finetunes: readonly Finetune[],
  { folder, seeds }: Place,
): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (const finetune of finetunes.filter(({ fault }) => fault === HEALTHY))
    for (let seed = 0; seed < seeds; seed++)
      for (let other = 0; other < seeds; other++) {
        if (other === seed) continue;
        const [log, baseline] = [seed, other].map((each) =>
          logOfHealthy(finetune, { folder, seed: each }),
        ) as [string, string];
        const reading = readingOf(await monitored(log, '--baseline', baseline));
        pairs.push({ name: `${finetune.method} ${seed} beside ${other}`, reading });
      }
  return pairs;
}

const logOfHealthy = (
  { method }: Finetune,
  { folder, seed }: { readonly folder: string; readonly seed: number },
): string => join(folder, method, HEALTHY, `seed-${seed}`);

function readingOf(run: Monitored): Reading {
  const found = failedIn(run).map((id) => ({
    rule: id.replace('monitor/', ''),
    step: placeOf(run, id).step,
  }));
  return { exitCode: run.exitCode, found, broken: run.results.some(({ verdict }) => verdict === 'error') };
}
