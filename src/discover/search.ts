// Every function of a project against every op that it may answer: what is bound, what nearly is, what fits nothing, what could
// not be called. A wrong binding is worse than none: where behaviour leaves something open, names must close it, or it stays open.
import type { Property } from '../check/property.ts';
import type { StopSignal } from '../check/stop.ts';
import type { Op } from '../protocol/message.ts';
import type { Candidate, Dialogue, LoadedFile, ProjectRead, Way } from './dialogue.ts';
import { type Fit, type Found, type Misfit, type Open, share, type Uncalled, type Unfit } from './found.ts';
import { PROOFS, type Proof } from './ops.ts';
import { recordedCases } from './recorded.ts';
import { judgeWays } from './ways.ts';

export interface SearchOptions {
  readonly dialogue: Dialogue;
  readonly project: ProjectRead;
  readonly properties: readonly Property[];
  readonly only?: ReadonlySet<Op> | undefined;
  readonly signal: StopSignal;
  readonly onProgress: (done: number, total: number, name: string) => void;
}

/** Ways of one function for one op that are judged; those that names speak for come first. */
const MOST_WAYS = 24;
/** Where nothing is named, an op is tried as well, with fewer ways. */
const MOST_UNNAMED = 6;
/** Of the properties: where fewer hold, names were wrong, or a convention is another one (masks that are 1 on padding). */
const LEAST_NEAR = 1 / 3;

export async function search(options: SearchOptions): Promise<Found> {
  const { dialogue, project, properties, signal } = options;
  const proofs = PROOFS.filter(({ op }) => options.only === undefined || options.only.has(op));
  const cases = new Map<Op, string>();
  const byId = new Map(properties.map((property) => [property.id, property]));
  const found = emptyOf(project);
  const failed = new Map<string, string>();
  const loadedAt = new Map<string, number>();
  let own: string | undefined;
  let doing: NonNullable<Found['inHand']>['doing'] = 'imported';
  let inHand: Found['inHand'];

  const order = [...project.candidates.entries()].sort(
    ([, a], [, b]) => turnOf(a) - turnOf(b) || strength(b) - strength(a),
  );
  for (const [done, [index, candidate]] of order.entries()) {
    if (signal.aborted) break;
    options.onProgress(done, order.length, candidate.name);
    const before = toldOf(found);
    await one(index, candidate);
    if (signal.aborted && toldOf(found) === before) inHand = { candidate, doing };
  }
  // By what is told, so that head and end agree whenever it was broken off.
  return { ...found, left: order.length - toldOf(found), inHand, restarts: dialogue.restarts() };

  async function one(index: number, candidate: Candidate): Promise<void> {
    const { file } = candidate;
    doing = 'imported';
    const trouble = failed.get(file) ?? (await loadTrouble(file));
    // What was looked at by half is nobody's verdict.
    if (signal.aborted) return;
    doing = 'called';
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
      const said = await dialogue.attempt({
        candidate: index,
        op: proof.op,
        arrays: project.arrays,
        cases: await casesOf(proof),
        own,
      });
      if (signal.aborted) return;
      if (said.printed && found.printing.at(-1) !== candidate) found.printing.push(candidate);
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
      const judged = await judgeWays({
        candidate,
        index,
        proof,
        ways: said.ok.ways.slice(0, named > 0 ? MOST_WAYS : MOST_UNNAMED),
        dialogue,
        properties,
        signal,
      });
      if (signal.aborted) return;
      if (judged.fit !== undefined) {
        found.bound.push(judged.fit);
        if (proof.op === 'logprobs') own ??= ownLogprobs(judged.fit.way);
        return;
      }
      open ??= judged.open;
      if (judged.misfit !== undefined && (misfit === undefined || share(judged.misfit) > share(misfit)))
        misfit = judged.misfit;
      if (judged.near !== undefined && (nearest === undefined || share(judged.near) > share(nearest)))
        nearest = { op: proof.op, ...judged.near };
    }
    if (misfit !== undefined && share(misfit) >= LEAST_NEAR) found.misfits.push(misfit);
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
    if ('stopped' in said) return said.stopped;
    const hint = /No module named '(torch|numpy)'/.test(said.problem)
      ? '; name the Python that you train with: --python PATH'
      : '';
    return `its file cannot be imported: ${said.problem}${hint}`;
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
}

/** What hands its log-probabilities to another function of the project, at temperature 1. */
function ownLogprobs({ call, header }: Way): string | undefined {
  if (header !== '' || !call.includes('[:, 1:]')) return undefined;
  return call.replace(/, (temperature=)?temperature\b/, '');
}

const toldOf = ({ bound, misfits, open, unfit, uncalled }: ReturnType<typeof emptyOf>): number =>
  bound.length + misfits.length + open.length + unfit.length + uncalled.length;

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
    printing: [] as Candidate[],
  };
}

const LOSSES = new Set<Op>(['loss', 'sft_loss', 'value_loss', 'preference_loss']);

/**
 * Should time run out, what matters most has had its turn: log-probabilities first, for other functions take them; then losses, then what
 * names say anything of.
 */
function turnOf(candidate: Candidate): number {
  const most = strength(candidate);
  const isNamed = (op: string): boolean => (candidate.ops[op] ?? 0) === most;
  if (most === 0) return 3;
  if (isNamed('logprobs')) return 0;
  return [...LOSSES].some(isNamed) ? 1 : 2;
}

/** The best that its names say. */
const strength = ({ ops }: Candidate): number => Math.max(0, ...Object.values(ops));

function mostCommon(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? '';
}
