// A formula that the answers follow none of the known ways of is a question, never silently nobody's business: which
// formula it is has to be said, or that it is the trainer's own.
import { FORMULAS, type Formula, type Semantics } from '../../vocabulary.ts';
import { unknownOf } from '../needs.ts';
import type { World } from '../property.ts';
import { type Doubt, declaration } from './doubt.ts';
import type { Probed, Reading } from './reading.ts';

/**
 * A doubt for each formula that is offered, not the trainer's own, and not known well enough to be compared. `held` is what is
 * declared, or measured and held against the trainer.
 */
export function unknownFormulas(world: World, held: Semantics, probed: readonly Probed[]): Doubt[] {
  return FORMULAS.flatMap((formula): Doubt[] => {
    const missing = unknownOf(formula, held);
    const [first] = missing;
    if (world.hello.ops[formula] === undefined || first === undefined) return [];
    if (world.semantics.own_formulas?.includes(formula)) return [];
    const about = probed.filter(({ probe }) => probe.ops.includes(formula));
    // A trainer that fails to answer is told of by every property of the op.
    if (about.some(({ reading }) => reading.state === 'failed')) return [];
    const readings = about.map(({ reading }) => reading);
    const odd = readings.find(({ state }) => state === 'unknown');
    // As in half precision, and for a name that says too little: nothing looks wrong, and nothing could be compared.
    const untold = odd === undefined && readings.some(({ state }) => state === 'fits');
    const fitting = readings.flatMap((reading) => (reading.state === 'fits' ? reading.remaining : []));
    const named = fitting.filter(({ items: known }) => known[first] !== undefined).map(({ name }) => name);
    const told =
      named.length === 0 ? 'tells too little of it' : `fits ${named.slice(0, MOST_NAMED).join('; ')}`;
    return [
      {
        item: first,
        weight: untold ? 'note' : 'ask',
        sentence: untold
          ? `Op \`${formula}\` was compared with no formula. The measured variant ${told}: declare ${missing.join(', ')}.`
          : `The answers of op \`${formula}\` follow none of the known formulas, so none was compared. ${sentenceOf(odd) ?? `Not measured: ${missing.join(', ')}.`}`,
        answers: [...closestItems(odd, world.semantics), ownFormula(formula, world.semantics)],
      },
    ];
  });
}

/** A doubt for each item whose known ways are all that there are, where the answers follow none of them throughout. */
export function mixedWays({ semantics }: World, probed: readonly Probed[]): Doubt[] {
  return probed.flatMap(({ probe, reading }): Doubt[] => {
    const [item] = probe.items.filter((each) => semantics[each] === undefined);
    if (probe.complete !== true || reading.state !== 'unknown' || item === undefined) return [];
    return [
      {
        item,
        weight: 'ask',
        sentence: `The answers of op ${probe.ops.map((op) => `\`${op}\``).join(', ')} follow none of the known ways throughout. ${sentenceOf(reading)}`,
        answers: closestItems(reading, semantics),
      },
    ];
  });
}

/** A note for each item whose answers follow no known way, and may be meant. */
export function ownWays({ semantics }: World, probed: readonly Probed[]): Doubt[] {
  return probed.flatMap(({ probe, reading }): Doubt[] => {
    const [item] = probe.items;
    if (probe.mayBeOwn !== true || reading.state !== 'unknown' || item === undefined) return [];
    if (semantics[item] !== undefined) return [];
    return [
      {
        item,
        weight: 'note',
        sentence: `Measured, not declared: ${item} is none of the known ones, so that relations alone judge it. ${sentenceOf(reading)}`,
        answers: [`${declaration(item, 'own')}  (it is meant)`, ...closestItems(reading, semantics)],
      },
    ];
  });
}

/** The line that says that a formula is meant as it is, beside those that are declared already: a list is declared whole. */
export function ownFormula(formula: Formula, { own_formulas: others = [] }: Semantics): string {
  return `${declaration('own_formulas', [...others, formula])}  (a formula of our own: relations alone judge it)`;
}

function sentenceOf(reading: Reading | undefined): string | undefined {
  if (reading?.state !== 'unknown') return undefined;
  const { where, expected, observed } = reading.misfit;
  return `Closest is ${reading.closest.name}: ${where} is ${digits(observed)}, and would be ${digits(expected)}.`;
}

/** Ways that fit, as far as anybody reads them. */
const MOST_NAMED = 3;
const digits = (value: number): number => Number(value.toPrecision(6));

/** What the closest known way is called: declared, the difference is a failure, with its numbers. */
function closestItems(reading: Reading | undefined, declared: Semantics): string[] {
  if (reading?.state !== 'unknown') return [];
  return (Object.entries(reading.closest.items) as [keyof Semantics, unknown][])
    .filter(([item]) => declared[item] === undefined)
    .map(([item, value]) => `${declaration(item, value)}  (it should be this)`);
}
