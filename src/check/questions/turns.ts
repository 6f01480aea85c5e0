// Whom masks with gaps are asked of. What a tool wrote stands between the turns of a completion and is not trained; where each
// completion is one answer there is no such token, and a trainer may take its mask for a length.
import type fc from 'fast-check';
import { GAP } from '../../generators/losses/gaps.ts';
import type { Finding, Need, Property, World } from '../property.ts';
import { causeIn } from './causes.ts';
import { meantOr, notMeant } from './meant.ts';

/** Ops of trainers whose completions have what a tool wrote in them. */
const TOOL_OPS = ['trajectory', 'parse_tool_call', 'tool_step'] as const;

const hasTools = ({ hello }: Pick<World, 'hello'>): boolean =>
  TOOL_OPS.some((op) => hello.ops[op] !== undefined);

/** A trainer of single turns may know its completions by their lengths, where it says so. */
export const severalTurnsInMasks: Need = (world) =>
  hasTools(world) ? undefined : notMeant('single_turn')(world);

/** Where neither tools nor their absence are declared, a mask that is read as a length may be meant. */
export const singleTurnOr = (
  told: Pick<World, 'hello' | 'semantics'>,
  others: readonly string[] = [],
): Pick<Finding, 'answers'> => (hasTools(told) ? {} : meantOr(told, 'single_turn', others));

/** The same case with the masked tokens of each completion behind the trained ones. */
type Closed<Case> = (drawn: Case) => Case;

/** Cases with the masks that the trainer may be sent: of single turns, those that are lengths. */
export const masksOf = <Case>(
  world: World,
  drawn: fc.Arbitrary<Case>,
  closed: Closed<Case>,
): fc.Arbitrary<Case> => (severalTurnsInMasks(world) === undefined ? drawn : drawn.map(closed));

/**
 * Properties with the masks that their trainer may be sent. Where nobody says which these are, what goes wrong under a gap, and is
 * right with the masked tokens behind the others, is a question.
 */
export const underGaps = <Case>(
  closed: Closed<Case>,
  properties: readonly Property<Case>[],
): readonly Property<Case>[] =>
  properties.map((property) => ({
    ...property,
    given: (world) => masksOf(world, property.given(world), closed),
    coverage: (world) => {
      const { coverage = {} } = property;
      const { [GAP]: gap, ...others } = typeof coverage === 'function' ? coverage(world) : coverage;
      return gap === undefined || severalTurnsInMasks(world) !== undefined
        ? others
        : { ...others, [GAP]: gap };
    },
    async check(subject, saved) {
      // A case that was saved before single turns were declared has gaps.
      const drawn = severalTurnsInMasks(subject) === undefined ? saved : closed(saved);
      const found = await property.check(subject, drawn);
      if (found === undefined) return undefined;
      const question = singleTurnOr(subject, found.answers);
      const other = closed(drawn);
      if (question.answers === undefined || JSON.stringify(other) === JSON.stringify(drawn)) return found;
      // A trainer that goes down over it, or leaves nothing to judge, is not right.
      const isRight = await causeIn(async () => (await property.check(subject, other)) === undefined);
      return isRight === true ? { ...found, ...question } : found;
    },
  }));
