// What becomes of a result in the light of the others of its run. Results come in any order, from several trainer processes
// or several machines; what is told of them is that of one run in the properties' own order.
import { sameTrouble } from '../../trainer/failure.ts';
import { FAILING } from '../../vocabulary.ts';
import type { Failure, PropertyFacts, PropertyResult } from '../events.ts';
import { asksTwice } from '../relations/twice.ts';

export type SettledFacts = Pick<PropertyFacts, 'id' | 'ops' | 'settles'>;

export interface Settling {
  /** The results that can be told now: nothing that is still missing changes them. */
  add(result: PropertyResult): readonly PropertyResult[];
  /** Nothing more will come. */
  rest(): readonly PropertyResult[];
}

/**
 * A failure waits for `same-twice` of its op: where one request has two answers, whatever compares two answers fails, and what
 * it says of its own rule may be that. Of several ops, one may be to blame that is the same each time, so nothing is explained.
 *
 * A question waits for the properties before it that ask the same ops: where one of them fails, that is the finding, and
 * which formula it is, is asked once it holds. `properties` in their order.
 */
export function settling(properties: readonly SettledFacts[]): Settling {
  const placeOf = new Map(properties.map(({ id }, place) => [id, place]));
  const ended = new Map<string, PropertyResult>();
  const waiting: PropertyResult[] = [];

  const before = (id: string): readonly SettledFacts[] => {
    const own = properties[placeOf.get(id) ?? -1];
    if (own === undefined) return [];
    return properties
      .slice(0, placeOf.get(id))
      .filter(({ ops = [] }) => ops.some((op) => own.ops?.includes(op)));
  };
  const isQuestion = ({ id, verdict }: PropertyResult): boolean =>
    verdict === 'ask' && properties[placeOf.get(id) ?? -1]?.settles !== undefined;
  const twicesOf = (id: string): readonly SettledFacts[] => {
    const { ops = [] } = properties[placeOf.get(id) ?? -1] ?? {};
    if (ops.length !== 1 || asksTwice(id)) return [];
    return properties.filter((other) => asksTwice(other.id) && other.ops?.join() === ops.join());
  };
  const isFinding = ({ verdict, failure }: PropertyResult): boolean =>
    FAILING.includes(verdict) && failure?.finding !== undefined;
  const waitsFor = (result: PropertyResult): readonly SettledFacts[] => [
    ...(isQuestion(result) ? before(result.id) : []),
    ...(isFinding(result) ? twicesOf(result.id) : []),
  ];
  const explained = (result: PropertyResult): PropertyResult => {
    const { failure } = result;
    if (failure === undefined || !isFinding(result)) return result;
    const twice = twicesOf(result.id).find(({ id }) => ended.get(id)?.verdict === 'fail');
    return twice === undefined ? result : { ...result, failure: { ...failure, explainedBy: twice.id } };
  };
  const told = (result: PropertyResult): PropertyResult => {
    if (!isQuestion(result)) return explained(result);
    const broken = before(result.id).find(({ id }) =>
      ['fail', 'error'].includes(ended.get(id)?.verdict ?? ''),
    );
    if (broken === undefined) return explained(result);
    const { answers: _, failure: __, others: ___, ...rest } = result;
    return { ...rest, verdict: 'skipped', reason: `which formula it is, is asked once ${broken.id} holds` };
  };
  const ready = (): readonly PropertyResult[] => {
    const free = waiting.filter((result) => waitsFor(result).every((other) => ended.has(other.id)));
    for (const result of free) waiting.splice(waiting.indexOf(result), 1);
    return free.map(told);
  };

  return {
    add(result) {
      ended.set(result.id, result);
      if (waitsFor(result).length > 0) {
        waiting.push(result);
        return ready();
      }
      return [told(result), ...ready()];
    },
    rest: () => waiting.splice(0).map(told),
  };
}

/** All results of a run, in the properties' order; results of no property of the run, known failures, stand behind. */
export function settled(
  properties: readonly SettledFacts[],
  results: readonly PropertyResult[],
): readonly PropertyResult[] {
  const placeOf = new Map(properties.map(({ id }, place) => [id, place]));
  const inOrder = results.toSorted(
    (a, b) => (placeOf.get(a.id) ?? properties.length) - (placeOf.get(b.id) ?? properties.length),
  );
  const { add, rest } = settling(properties);
  const told = new Map([...inOrder.flatMap(add), ...rest()].map((result) => [result.id, result]));
  return toldOnce(inOrder.map((result) => told.get(result.id) ?? result));
}

/** What every op runs into is told by the first property that met it, also where each process met it for itself. */
function toldOnce(results: readonly PropertyResult[]): readonly PropertyResult[] {
  const first = new Map<string, string>();
  return results.map((result) => {
    const again = (failure: Failure): Failure => {
      if (failure.trainerFailure === undefined) return failure;
      const trouble = sameTrouble(failure.trainerFailure);
      const teller = first.get(trouble) ?? result.id;
      first.set(trouble, teller);
      const { sameAs: _, ...own } = failure;
      return teller === result.id ? own : { ...own, sameAs: teller };
    };
    return {
      ...result,
      ...(result.failure === undefined ? {} : { failure: again(result.failure) }),
      ...(result.others === undefined ? {} : { others: result.others.map(again) }),
    };
  });
}
