// What `discover` found, for a program. Names as on the wire; what is added later may be there, what is here stays.
import type { Candidate, Way } from '../../discover/dialogue.ts';
import type { Found } from '../../discover/found.ts';
import { VERSION } from '../../version.ts';

export function foundJson(found: Found): object {
  const where = ({ name, file, line }: Candidate) => ({ function: name, file, line });
  const how = ({
    call,
    text,
    layout,
    capability,
    reads,
    unread,
    assumes,
    agrees,
    invented,
    ...way
  }: Way) => ({
    call,
    text,
    arguments: Object.fromEntries(way.arguments.map(([name, expression]) => [name, expression])),
    layout,
    capability,
    answers: reads.map(([field]) => field),
    unread,
    assumes,
    invented: Object.fromEntries(invented),
    names_agree: agrees,
  });
  return {
    version: VERSION,
    arrays: found.arrays,
    files: found.files,
    in_part: [...found.loaded].flatMap(([file, { leftOut }]) =>
      leftOut.length === 0 ? [] : [{ file, without: leftOut }],
    ),
    bound: found.bound.map(
      ({ candidate, op, way, variant, others, failing, flaws, weaker, notes, judged }) => ({
        ...where(candidate),
        op,
        ...how(way),
        variant,
        others,
        failing,
        broken: flaws,
        should: weaker,
        notes,
        properties: judged,
      }),
    ),
    misfits: found.misfits.map(({ candidate, op, way, variant, broken, judged, held, tried, instead }) => ({
      ...where(candidate),
      op,
      ...how(way),
      variant,
      broken,
      properties: judged,
      holding: held,
      tried,
      instead: instead ?? null,
    })),
    open: found.open.map(({ candidate, op, ways, variant, why }) => ({
      ...where(candidate),
      op,
      calls: ways.map(({ call }) => call),
      variant,
      why,
    })),
    unfit: found.unfit.map(({ candidate, nearest }) => ({ ...where(candidate), nearest: nearest ?? null })),
    uncalled: found.uncalled.map(({ candidate, why }) => ({ ...where(candidate), why })),
    printing: found.printing.map(where),
    left: found.left,
    in_hand:
      found.inHand === undefined ? null : { ...where(found.inHand.candidate), doing: found.inHand.doing },
    restarts: found.restarts,
  };
}
