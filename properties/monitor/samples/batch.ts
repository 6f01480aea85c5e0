// Rules about the share of samples that have a fault, judged step by step: one odd sample of a healthy run is no
// failure, and a fault of the code shows in many samples of one step.
import type { MonitorRule, RuleWorld, Sample, Setting, Violation, Watch } from '../../../src/index.ts';

/** What is wrong with one sample. */
export interface Fault {
  readonly kind: string;
  /** The end of "the first is rollouts/7.jsonl line 3, which ...". */
  readonly which: string;
  readonly marks?: Violation['marks'];
}

/** Consecutive samples, of one step where steps have enough of them. */
export interface Batch {
  /** Of the first and of the last sample; undefined where the file does not tell. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly judged: number;
  readonly faulty: number;
  /** The first faulty ones. */
  readonly faults: readonly { readonly sample: Sample; readonly fault: Fault }[];
  /** Different numbers of completion ids, up to two. */
  readonly widths: ReadonlySet<number>;
}

/** `fine`, a fault, or undefined: nothing can be said of this sample. */
export type Judgement = Fault | 'fine' | undefined;

export interface ShareSketch
  extends Pick<MonitorRule, 'id' | 'title' | 'level' | 'why' | 'catches' | 'advice'> {
  readonly judge: (world: RuleWorld) => (sample: Sample) => Judgement;
  /** Share of judged samples, 0 to 1, from which it is no chance. */
  readonly share: number;
  /** Samples that must be judged before anything is said. */
  readonly least: number;
  /** Faulty samples that one must see. */
  readonly faulty: number;
  /** "of 8 completions of step 7, 5 ..." */
  readonly does: string;
  readonly what?: string;
  /** Why nothing was judged. */
  readonly silent: string;
  readonly settings?: Readonly<Record<string, Setting>>;
  /** A last look at the whole batch: false where all of it is legal after all. */
  readonly confirm?: (batch: Batch) => boolean;
}

export function shareRule(sketch: ShareSketch): MonitorRule {
  const { judge, share, least, faulty, does, what = 'samples', silent, confirm, settings, ...facts } = sketch;
  return {
    ...facts,
    stage: 'monitor',
    roles: [],
    samples: true,
    settings: {
      share: {
        default: share,
        what: `Share of the ${what} of a step, 0 to 1, from which it is a failure.`,
      },
      least: {
        default: least,
        what: `${what[0]?.toUpperCase()}${what.slice(1)} that must be judged together; smaller steps are put together.`,
      },
      ...settings,
    },
    watch: (world) => {
      const limit = numberSetting(world, 'share');
      const enough = numberSetting(world, 'least');
      const told = new Set<string>();
      return batchWatch(judge(world), enough, silent, (batch) => {
        if (batch.faulty < Math.max(faulty, limit * batch.judged) || confirm?.(batch) === false)
          return undefined;
        const [first] = batch.faults;
        // Once is enough: a step after that says nothing new.
        if (first === undefined || told.has(first.fault.kind)) return undefined;
        told.add(first.fault.kind);
        return {
          kind: first.fault.kind,
          sentence: `${batch.faulty} of ${batch.judged} ${what}${stepsOf(batch)} ${does}: the first is ${first.sample.where}, which ${first.fault.which}.`,
          ...(first.sample.step === undefined ? {} : { step: first.sample.step }),
          value: batch.faulty / batch.judged,
          low: 0,
          high: limit,
          sample: first.sample,
          ...(first.fault.marks === undefined ? {} : { marks: first.fault.marks }),
        };
      });
    },
  };
}

export function numberSetting(world: RuleWorld, name: string): number {
  return Number(world.setting(name));
}

/** " of step 7", " of steps 3 to 7", or nothing. */
export function stepsOf({ from, to }: Pick<Batch, 'from' | 'to'>): string {
  if (from === undefined || to === undefined) return '';
  return from === to ? ` of step ${from}` : ` of steps ${Math.min(from, to)} to ${Math.max(from, to)}`;
}

/** Is it time to judge what was collected? A step may come in several files, and a file may tell no step. */
export function closesBefore(
  sample: Sample,
  last: number | undefined,
  collected: number,
  enough: number,
): boolean {
  if (collected >= MOST_SAMPLES) return true;
  if (collected < enough) return false;
  return sample.step === undefined ? collected >= Math.max(enough, WITHOUT_STEP) : sample.step !== last;
}

// --- helpers ---

/** Larger steps are judged in parts, so that no rule remembers more. */
const MOST_SAMPLES = 4096;
/** Samples judged together where the file tells no step: about what one step of a small run has. */
const WITHOUT_STEP = 64;
/** Faulty samples kept of a batch: the first is shown, the others may be asked for by `confirm`. */
const KEPT_FAULTS = 64;

interface Open {
  from: number | undefined;
  to: number | undefined;
  judged: number;
  faulty: number;
  faults: { sample: Sample; fault: Fault }[];
  widths: Set<number>;
}

function batchWatch(
  judge: (sample: Sample) => Judgement,
  enough: number,
  silent: string,
  close: (batch: Batch) => Violation | undefined,
): Watch {
  let judged = 0;
  let seen = 0;
  const fresh = (): Open => ({
    from: undefined,
    to: undefined,
    judged: 0,
    faulty: 0,
    faults: [],
    widths: new Set(),
  });
  let open = fresh();
  const end = (): Violation | undefined => {
    if (open.judged < enough) return undefined;
    judged += open.judged;
    const violation = close(open);
    open = fresh();
    return violation;
  };
  return {
    sample(sample) {
      seen++;
      const verdict = judge(sample);
      if (verdict === undefined) return undefined;
      const violation = closesBefore(sample, open.to, open.judged, enough) ? end() : undefined;
      if (open.judged === 0) open.from = sample.step;
      open.to = sample.step;
      open.judged++;
      if (open.widths.size < 2) open.widths.add(sample.completionIds?.length ?? 0);
      if (verdict !== 'fine') {
        open.faulty++;
        if (open.faults.length < KEPT_FAULTS) open.faults.push({ sample, fault: verdict });
      }
      return violation;
    },
    end,
    judged: () => judged,
    why: () =>
      judged > 0
        ? undefined
        : seen > 0 && open.judged > 0
          ? `it needs ${enough} samples of a kind at once; it saw ${open.judged}`
          : silent,
  };
}
