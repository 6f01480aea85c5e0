// What a run asks beyond its cases: doubts that were measured, each put to the property that compares its item. Where a
// relation of the same op fails, that is the finding, and nothing is asked.
import type { Op } from '../../protocol/message.ts';
import { NOT_TRIED, type PropertyResult } from '../events.ts';
import type { Doubt } from '../profile/doubt.ts';
import type { Property, World } from '../property.ts';

export interface Questions {
  /** Of a property that could not be asked: the question in its place, if there is one. */
  instead(property: Property): PropertyResult | undefined;
  /** What becomes of a result in the light of what is in doubt, and of what else was found. */
  judged(property: Property, result: PropertyResult): PropertyResult;
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
  /** The first property of an op that is broken for sure. */
  const broken = new Map<Op, string>();

  const decided = (property: Property, result: PropertyResult): PropertyResult => {
    const by = property.ops.map((op) => broken.get(op)).find((id) => id !== undefined);
    if (by === undefined) return result;
    const { answers: _, failure: __, others: ___, ...rest } = result;
    return { ...rest, verdict: 'skipped', reason: `which formula it is, is asked once ${by} holds` };
  };

  return {
    instead(property) {
      const own = asked.get(property.id);
      if (own === undefined) return undefined;
      const { id, title, level } = property;
      return decided(property, { id, title, level, verdict: 'ask', ...NOT_TRIED, ...wordsOf(own) });
    },
    judged(property, result) {
      const own = asked.get(property.id);
      if (result.verdict === 'ask' && property.settles !== undefined) return decided(property, result);
      if (result.verdict === 'pass' && own !== undefined)
        return decided(property, { ...result, verdict: 'ask', ...wordsOf(own) });
      if (result.verdict === 'fail' || result.verdict === 'error')
        for (const op of property.ops) if (!broken.has(op)) broken.set(op, property.id);
      return result;
    },
  };
}

/** Relations before formulas within a stage, so that what needs no declaration decides first. */
export function inOrder(properties: readonly Property[]): Property[] {
  const stages = [...new Set(properties.map(({ stage }) => stage))];
  return stages.flatMap((stage) => {
    const own = properties.filter((property) => property.stage === stage);
    return [
      ...own.filter(({ settles }) => settles === undefined),
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
