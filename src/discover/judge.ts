// Whether a way holds: the op's properties on a few cases each, with what the profile measured of it. Nothing here knows a
// formula; a way that breaks one property of level must is no binding, but for those of batches that no formula speaks of.
import { drawCases } from '../check/cases.ts';
import type { Doubt } from '../check/profile/doubt.ts';
import { measureUndeclared } from '../check/profile/undeclared.ts';
import type { Property, World } from '../check/property.ts';
import { worldOf } from '../check/run.ts';
import type { StopSignal } from '../check/stop.ts';
import { runCase } from '../check/subject.ts';
import { supportOf } from '../check/support.ts';
import type { Op } from '../protocol/message.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { Semantics } from '../vocabulary.ts';
import { BEYOND } from './beyond.ts';
import { isEdge, isPublished, type Proof } from './ops.ts';

export interface Broken {
  readonly property: string;
  readonly level: string;
  readonly sentence: string;
  /** Declarations under which it is legal: a question, and no defect. */
  readonly answers?: readonly string[];
}

export interface Judged {
  /** Every property that counts holds but for edges, the one that proves it among them, and nothing measured is in doubt. */
  readonly holds: boolean;
  readonly variant: Semantics;
  readonly broken: readonly Broken[];
  /** Of level should: no reason against a binding, and worth knowing. */
  readonly weaker: readonly Broken[];
  /** Legal, and often not meant. */
  readonly notes: readonly string[];
  /** Properties of level must, or with a published formula, that were judged, and those of them that hold. */
  readonly judged: number;
  readonly held: number;
}

/** Cases per property. Enough for the rare shapes: a row of one token, an empty mask, two groups of one prompt. */
const CASES = 12;
const QUICK = 3;
const SEED = 1;

/** The first case that breaks the proof, or nothing: most ways end here. */
export async function quickly(trainer: Trainer, proof: Property): Promise<Broken | undefined> {
  const world = worldOf(trainer, undefined);
  if (supportOf(proof, world) !== undefined) return undefined;
  return brokenBy(proof, trainer, world, QUICK).then(({ broken }) => broken);
}

export async function judge(
  trainer: Trainer,
  op: Op,
  proof: Proof,
  properties: readonly Property[],
  { all = false, signal }: { readonly all?: boolean; readonly signal?: StopSignal | undefined } = {},
): Promise<Judged> {
  const { semantics, doubts } = await measureUndeclared({
    trainer,
    tokenizer: undefined,
    ...(signal === undefined ? {} : { signal }),
  });
  const world = worldOf(trainer, undefined, undefined, semantics);
  const asked = doubts.filter(({ weight }) => weight === 'ask');
  const broken: Broken[] = asked.map((doubt) => brokenDoubt(op, doubt));
  const weaker: Broken[] = [];
  let judged = 0;
  let held = 0;
  let proved = false;
  const own = ownProperties(op, [...properties, ...BEYOND]).sort((a, b) => rank(a, proof) - rank(b, proof));
  for (const property of own) {
    if (signal?.aborted || (!broken.every(isEdge) && !all)) break;
    if (supportOf(property, world) !== undefined) continue;
    const outcome = await brokenBy(property, trainer, world, CASES);
    const counts = property.level === 'must' || isPublished(property);
    if (outcome.judged === 0 && outcome.broken === undefined) continue;
    if (counts) judged++;
    if (outcome.broken === undefined) {
      if (counts) held++;
      if (property.id === proof.property) proved = true;
    } else (counts ? broken : weaker).push(outcome.broken);
  }
  const untold = (proof.told ?? []).filter((item) => semantics[item] === undefined);
  if (proved && broken.every(isEdge) && untold.length > 0)
    broken.push({
      property: proof.property,
      level: 'must',
      sentence: `Each case fits some known formula, and no formula fits all of them: ${untold.join(' and ')} could not be told.`,
    });
  return {
    holds: broken.every(isEdge) && proved && !signal?.aborted,
    variant: { ...trainer.hello.semantics, ...semantics },
    broken,
    weaker,
    notes: doubts.filter(({ weight }) => weight === 'note').map(({ sentence }) => sentence),
    judged,
    held,
  };
}

/** Properties that ask this op alone. */
function ownProperties(op: Op, properties: readonly Property[]): Property[] {
  return properties.filter(
    ({ ops, level }) => level !== 'may' && ops.length > 0 && ops.every((each) => each === op),
  );
}

const rank = (property: Property, proof: Proof): number =>
  property.id === proof.property ? 0 : property.level === 'must' || isPublished(property) ? 1 : 2;

function brokenDoubt(op: Op, { item, sentence, answers }: Doubt): Broken {
  const [answer] = answers;
  return {
    property: `${op}/${item}`,
    level: 'must',
    sentence: answer === undefined ? sentence : `${sentence} ${answerWords(answer)}`,
  };
}

/** An answer is a line of a declaration, and in brackets what it says. */
function answerWords(answer: string): string {
  const [line = '', says = ''] = answer.split('  (');
  return says.startsWith('it should be')
    ? `If it should be that formula, declare ${line}, and \`check\` compares every answer with it.`
    : `If it is meant, declare ${line}.`;
}

async function brokenBy(
  property: Property,
  trainer: Trainer,
  world: World,
  count: number,
): Promise<{ readonly judged: number; readonly broken?: Broken }> {
  const cases = drawCases(property.given(world), SEED, Math.min(count, property.mostCases ?? count));
  let judged = 0;
  for (let at = 0; at < cases.count; at++) {
    const outcome = await runCase(property, trainer, world, cases.next());
    if (outcome.kind === 'refused') continue;
    judged++;
    const { id, level } = property;
    if (outcome.kind === 'fails') {
      const { sentence, answers } = outcome.finding;
      return {
        judged,
        broken: { property: id, level, sentence, ...(answers === undefined ? {} : { answers }) },
      };
    }
    if (outcome.kind === 'error')
      return { judged, broken: { property: id, level, sentence: outcome.failure.message } };
  }
  return { judged };
}
