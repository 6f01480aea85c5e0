// Every function of a project against every op that it may answer: what is bound, what nearly is, what fits nothing, what could
// not be called. A wrong binding is worse than none: where behaviour leaves something open, names must close it, or it stays open.
import type { Property } from '../check/property.ts';
import type { StopSignal } from '../check/stop.ts';
import type { Op } from '../protocol/message.ts';
import type { Semantics } from '../vocabulary.ts';
import type { Candidate, Dialogue, LoadedFile, ProjectRead, ReadFile, Way } from './dialogue.ts';
import { type Broken, type Judged, judge, quickly } from './judge.ts';
import { isPlain, PROOFS, type Proof } from './ops.ts';
import { recordedCases } from './recorded.ts';
import { wayTrainer } from './way-trainer.ts';

export interface Fit {
  readonly candidate: Candidate;
  readonly op: Op;
  readonly way: Way;
  readonly variant: Semantics;
  /** Other constants with which it holds as well: another estimator, another mode. */
  readonly others: readonly { readonly call: string; readonly variant: Semantics }[];
  /** Properties of level should that it breaks. */
  readonly weaker: readonly Broken[];
  readonly notes: readonly string[];
  readonly judged: number;
}

export interface Misfit {
  readonly candidate: Candidate;
  readonly op: Op;
  readonly way: Way;
  readonly variant: Semantics;
  readonly broken: readonly Broken[];
  readonly judged: number;
  readonly held: number;
  /** A call that holds, against what the names say. */
  readonly instead?: string;
}

/** It holds, and something is open that nobody but a person can close. */
export interface Open {
  readonly candidate: Candidate;
  readonly op: Op;
  readonly ways: readonly Way[];
  readonly variant: Semantics;
  readonly why: string;
}

export interface Unfit {
  readonly candidate: Candidate;
  /** The op that it came nearest to, and how near. */
  readonly nearest?: { readonly op: Op; readonly held: number; readonly judged: number };
}

export interface Uncalled {
  readonly candidate: Candidate;
  readonly why: string;
}

export interface Found {
  readonly files: readonly ReadFile[];
  readonly arrays: ProjectRead['arrays'];
  readonly loaded: ReadonlyMap<string, LoadedFile>;
  readonly bound: readonly Fit[];
  readonly misfits: readonly Misfit[];
  readonly open: readonly Open[];
  readonly unfit: readonly Unfit[];
  readonly uncalled: readonly Uncalled[];
  /** Functions that had no turn. */
  readonly left: number;
  readonly restarts: number;
}

export interface SearchOptions {
  readonly dialogue: Dialogue;
  readonly project: ProjectRead;
  readonly properties: readonly Property[];
  readonly only?: ReadonlySet<Op> | undefined;
  readonly signal: StopSignal;
  readonly onProgress: (done: number, total: number, name: string) => void;
}

/** Ways of one function for one op that are judged; those that names speak for come first. */
const MOST_WAYS = 16;
const MOST_OTHERS = 8;
/** Where nothing is named, an op is tried as well, with fewer ways. */
const MOST_UNNAMED = 6;

export async function search(options: SearchOptions): Promise<Found> {
  const { dialogue, project, properties, signal } = options;
  const proofs = PROOFS.filter(({ op }) => options.only === undefined || options.only.has(op));
  const cases = new Map<Op, string>();
  const byId = new Map(properties.map((property) => [property.id, property]));
  const found = emptyOf(project);
  const failed = new Map<string, string>();
  const floats = project.arrays === null ? 'float64' : 'float32';
  let own: string | undefined;
  let done = 0;

  // Log-probabilities come first: other functions take them. Then what names say most of, should time run out.
  const order = [...project.candidates.entries()].sort(
    ([, a], [, b]) => Number(scores(b)) - Number(scores(a)) || strength(b) - strength(a),
  );
  for (const [index, candidate] of order) {
    if (signal.aborted) break;
    options.onProgress(done, order.length, candidate.name);
    await one(index, candidate);
    done++;
  }
  return { ...found, left: order.length - done, restarts: dialogue.restarts() };

  async function one(index: number, candidate: Candidate): Promise<void> {
    const { file } = candidate;
    const trouble = failed.get(file) ?? (await loadTrouble(file));
    if (trouble !== undefined) {
      failed.set(file, trouble);
      found.uncalled.push({ candidate, why: trouble });
      return;
    }
    const turn = proofs
      .map((proof) => ({ proof, named: candidate.ops[proof.op] ?? 0 }))
      .sort((a, b) => b.named - a.named);
    let nearest: Unfit['nearest'];
    let misfit: Misfit | undefined;
    let open: Open | undefined;
    const why: string[] = [];
    let answered = false;
    for (const { proof, named } of turn) {
      if (signal.aborted) break;
      const said = await dialogue.attempt({
        candidate: index,
        op: proof.op,
        arrays: project.arrays,
        cases: await casesOf(proof),
        own,
      });
      if ('stopped' in said) {
        found.uncalled.push({ candidate, why: said.stopped });
        return;
      }
      if ('problem' in said) {
        found.uncalled.push({ candidate, why: said.problem });
        return;
      }
      why.push(...said.ok.why);
      if (said.ok.ways.length > 0) answered = true;
      const judged = await judgeWays(candidate, proof, said.ok.ways.slice(0, named > 0 ? MOST_WAYS : MOST_UNNAMED));
      if (judged.fit !== undefined) {
        found.bound.push(judged.fit);
        if (proof.op === 'logprobs' && own === undefined && judged.fit.way.call.includes('[:, 1:]'))
          own = judged.fit.way.header === '' ? judged.fit.way.call.replace(/, (temperature=)?temperature\b/, '') : undefined;
        return;
      }
      open ??= judged.open;
      if (judged.misfit !== undefined && (misfit === undefined || share(judged.misfit) > share(misfit)))
        misfit = judged.misfit;
      if (judged.near !== undefined && (nearest === undefined || share(judged.near) > share(nearest)))
        nearest = { op: proof.op, ...judged.near };
    }
    if (misfit !== undefined) found.misfits.push(misfit);
    else if (open !== undefined) found.open.push(open);
    else if (answered) found.unfit.push({ candidate, ...(nearest === undefined ? {} : { nearest }) });
    else if (why.length > 0) found.uncalled.push({ candidate, why: mostCommon(why) });
    else found.unfit.push({ candidate });
  }

  async function loadTrouble(file: string): Promise<string | undefined> {
    if (found.loaded.has(file) && dialogue.restarts() === loadedAt.get(file)) return undefined;
    const said = await dialogue.load(file);
    if ('ok' in said) {
      found.loaded.set(file, said.ok);
      loadedAt.set(file, dialogue.restarts());
      return undefined;
    }
    return 'stopped' in said ? said.stopped : `its file cannot be imported: ${said.problem}`;
  }

  async function casesOf(proof: Proof): Promise<string> {
    const known = cases.get(proof.op);
    if (known !== undefined) return known;
    const property = byId.get(proof.property);
    if (property === undefined) throw new Error(`There is no property ${proof.property}.`);
    const lists = [];
    for (const layout of proof.layouts) {
      const requests = await recordedCases(property, proof.op, layout, proof.capability);
      lists.push(`[${JSON.stringify(layout)},[${requests.join(',')}]]`);
    }
    const text = `[${lists.join(',')}]`;
    cases.set(proof.op, text);
    return text;
  }

  async function judgeWays(candidate: Candidate, proof: Proof, ways: readonly Way[]): Promise<WaysJudged> {
    const { op } = proof;
    const property = byId.get(proof.property);
    const fits: { way: Way; judged: Judged }[] = [];
    let near: { held: number; judged: number } | undefined;
    let misfit: Misfit | undefined;
    for (const way of ways) {
      if (signal.aborted) break;
      const [first] = fits;
      // Names and behaviour agree on one: another order of arguments would have to hold against both.
      if (first?.way.agrees && dataOf(first.way) !== dataOf(way)) continue;
      // What holds on whole rows holds on their ends.
      if (fits.some(({ way: { call } }) => call === way.call)) continue;
      if (fits.length > MOST_OTHERS) break;
      const trainer = wayTrainer(op, way, dialogue, floats);
      const broken = property === undefined ? undefined : await quickly(trainer, property);
      if (broken !== undefined && (misfit !== undefined || !way.agrees || fits.length > 0)) {
        near ??= { held: 0, judged: 1 };
        continue;
      }
      const judged = await judge(trainer, op, proof, properties, {
        all: way.agrees && misfit === undefined && fits.length === 0,
        signal,
      });
      if (judged.holds) fits.push({ way, judged });
      else if (judged.judged > 0) {
        if (near === undefined || share(judged) > share(near)) near = { held: judged.held, judged: judged.judged };
        if (way.agrees && misfit === undefined && judged.broken.length > 0)
          misfit = { candidate, op, way, ...judged };
      }
    }
    // Of several constants the formula that says most is shown first.
    const isNamed = fits[0]?.way.call.includes("'") === true;
    const [first, ...rest] = isNamed ? fits.sort((a, b) => plainness(op, a) - plainness(op, b)) : fits;
    if (first === undefined) return { near, misfit };
    const { held, judged } = first.judged;
    // Names say one order and behaviour another: that is a finding, and no binding.
    if (misfit !== undefined && !first.way.agrees) return { near, misfit: { ...misfit, instead: first.way.call } };
    return { near: { held, judged }, ...settled(candidate, op, first, rest) };
  }

  function settled(
    candidate: Candidate,
    op: Op,
    { way, judged }: { way: Way; judged: Judged },
    rest: readonly { way: Way; judged: Judged }[],
  ): { readonly fit?: Fit; readonly open?: Open } {
    const { variant, weaker, notes } = judged;
    const strangers = rest.filter((other) => dataOf(other.way) !== dataOf(way));
    if (!way.agrees && isPlain(op, variant)) return {};
    if (!way.agrees && strangers.length > 0) {
      const ways = [way, ...strangers.map((other) => other.way)];
      return { open: { candidate, op, ways, variant, why: 'more than one order of arguments holds' } };
    }
    const shift = unsaidShift(candidate, op, way);
    if (shift !== undefined) return { open: { candidate, op, ways: [way], variant, why: shift } };
    const alike = rest.filter((other) => dataOf(other.way) === dataOf(way));
    const others = alike
      .filter(({ way: { call } }, at) => call !== way.call && alike.findIndex((each) => each.way.call === call) === at)
      .map((other) => ({ call: other.way.call, variant: other.judged.variant }));
    return { fit: { candidate, op, way: inLayout(candidate, way), variant, others, weaker, notes, judged: judged.judged } };
  }
}

interface WaysJudged {
  readonly fit?: Fit | undefined;
  readonly open?: Open | undefined;
  readonly misfit?: Misfit | undefined;
  readonly near?: { readonly held: number; readonly judged: number } | undefined;
}

const loadedAt = new Map<string, number>();

/** Arrays of the completion alone: where no name says so, it is an assumption. */
function inLayout({ parameters, name, file }: Candidate, way: Way): Way {
  if (way.layout?.span !== 'completion') return way;
  const said = /response|completion|action|answer/i.test([name, file, ...parameters].join(' '));
  return said ? way : { ...way, assumes: [...way.assumes, 'arrays of the completion alone; on whole rows it does not hold'] };
}

/**
 * A function that is right only on shifted arguments is right where its callers shift. Where they do not, or the names are
 * those of whole rows, that is the bug of all bugs, and no convention.
 */
function unsaidShift({ parameters, called, name }: Candidate, op: Op, { call }: Way): string | undefined {
  if (!/\[:, 1:\]/.test(call) || call.includes('(labels[:, 1:] != -100)')) return undefined;
  const shifted = op === 'sft_loss' ? /\[.*:.*\]|shift|\*|target/i : /\[.*:.*\]|shift|\*|label|target|index|action/i;
  const bare = called.filter((text) => !shifted.test(text));
  const [first] = bare;
  if (first !== undefined && bare.length === called.length)
    return `it holds where it is handed shifted arguments, and this call does not look so: ${first}`;
  const isPair = parameters.some((each) => /label|target|index|indices|action|response|shift/i.test(each));
  if (called.length > 0 || (isPair && op !== 'sft_loss') || /shift/i.test([name, ...parameters].join(' '))) return undefined;
  return 'it holds where it is handed shifted arguments, logits[:, :-1] beside ids[:, 1:]; nothing in these files calls it, and on whole rows it does not hold';
}

function emptyOf(project: ProjectRead) {
  return {
    files: project.files,
    arrays: project.arrays,
    loaded: new Map<string, LoadedFile>(),
    bound: [] as Fit[],
    misfits: [] as Misfit[],
    open: [] as Open[],
    unfit: [] as Unfit[],
    uncalled: [] as Uncalled[],
  };
}

/** Which data goes where, constants aside. */
const dataOf = (way: Way): string =>
  JSON.stringify([way.layout, way.arguments.filter(([, , data]) => data).map(([name, text]) => [name, text])]);

const plainness = (op: Op, { judged }: { readonly judged: Judged }): number => Number(isPlain(op, judged.variant));

const share = ({ held, judged }: { readonly held: number; readonly judged: number }): number =>
  judged === 0 ? 0 : held / judged;

const scores = (candidate: Candidate): boolean => (candidate.ops.logprobs ?? 0) >= strength(candidate);

/** The best that its names say. */
const strength = ({ ops }: Candidate): number => Math.max(0, ...Object.values(ops));

function mostCommon(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}
