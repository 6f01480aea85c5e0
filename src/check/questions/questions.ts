// What a run asks beyond its cases: doubts that were measured, each put to the property that compares its item.
import { NOT_TRIED, type PropertyResult } from '../events.ts';
import type { Doubt } from '../profile/doubt.ts';
import type { Property, World } from '../property.ts';
import { asksTwice } from '../relations/twice.ts';

export interface Questions {
  /** Of a property that could not be asked: the question in its place, if there is one. */
  instead(property: Property): PropertyResult | undefined;
  /** A result in the light of what is in doubt. What becomes of it beside the others is settle.ts. */
  asked(property: Property, result: PropertyResult): PropertyResult;
}

/** `doubts` that fail the run, those of a strict run included. */
export function questionsOf(
  properties: readonly Property[],
  doubts: readonly Doubt[],
  world: World,
): Questions {
  const asked = new Map<string, Doubt[]>();
  for (const doubt of doubts) {
    const settling = properties.find(
      ({ settles = [], ops }) =>
        settles.includes(doubt.item) && ops.every((op) => world.hello.ops[op] !== undefined),
    );
    if (settling !== undefined) asked.set(settling.id, [...(asked.get(settling.id) ?? []), doubt]);
  }
  return {
    instead({ id, title, level }) {
      const own = asked.get(id);
      return own === undefined
        ? undefined
        : { id, title, level, verdict: 'ask', ...NOT_TRIED, ...wordsOf(own) };
    },
    asked({ id }, result) {
      const own = asked.get(id);
      return result.verdict === 'pass' && own !== undefined
        ? { ...result, verdict: 'ask', ...wordsOf(own) }
        : result;
    },
  };
}

/**
 * Within a stage, whether one request has one answer comes first, which explains what fails behind it; and relations before
 * formulas, so that what needs no declaration decides first.
 */
export function inOrder(properties: readonly Property[]): Property[] {
  const stages = [...new Set(properties.map(({ stage }) => stage))];
  return stages.flatMap((stage) => {
    const own = properties.filter((property) => property.stage === stage);
    return [
      ...own.filter(({ id }) => asksTwice(id)),
      ...own.filter(({ id, settles }) => settles === undefined && !asksTwice(id)),
      ...own.filter(({ settles }) => settles !== undefined),
    ];
  });
}

function wordsOf(doubts: readonly Doubt[]): Required<Pick<PropertyResult, 'reason' | 'answers'>> {
  return {
    reason: doubts.map(({ sentence }) => sentence).join(' '),
    answers: [...new Set(doubts.flatMap(({ answers }) => answers))],
  };
}

/** What is said after the results, without failing the run: of what these properties are about. */
export function notesOf(
  doubts: readonly Doubt[],
  properties: readonly Property[],
): Pick<Doubt, 'sentence' | 'answers'>[] {
  return doubts
    .filter(
      ({ item, weight }) =>
        weight === 'note' && properties.some(({ settles = [] }) => settles.includes(item)),
    )
    .map(({ sentence, answers }) => ({ sentence, answers }));
}
