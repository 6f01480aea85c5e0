// A property of a user's own: as few words as it can do with, and the type of its cases inferred.

import { type Property, STAGES, type Stage } from './property.ts';

/** A property whose stage, level and bugs may be left out. */
export type PropertySketch<Case> = Omit<Property<Case>, 'stage' | 'level' | 'catches'> &
  Partial<Pick<Property<Case>, 'stage' | 'level' | 'catches'>>;

/**
 * Gives a property its type, `Case` inferred from `given`, for `toHold`, `testTrainer({ properties })` and `run`. The
 * level is `must`; the stage is the one that the id begins with, else the one of its first op.
 * @throws TypeError with code ERR_PROPERTY where the id is not `folder/what-holds` or no op is named.
 */
export function defineProperty<Case>(sketch: PropertySketch<Case>): Property {
  const { id, ops } = sketch;
  if (!ID.test(id))
    throw misuse(`the id "${id}" must be like "mask/prompt-is-never-trained": a folder, a slash, a name`);
  if (ops.length === 0)
    throw misuse(`${id}: \`ops\` names no op, so that nothing says whether a trainer can be checked`);
  const property: Property<Case> = {
    level: 'must',
    catches: [],
    ...sketch,
    stage: sketch.stage ?? stageOf(id.split('/')[0]) ?? stageOf(ops[0]) ?? 'contract',
  };
  // A property's cases are its own business; whoever only runs it need not know their type.
  return property as unknown as Property;
}

const ID = /^[^\s/*,]+(\/[^\s/*,]+)+$/;

function stageOf(name: string | undefined): Stage | undefined {
  return STAGES.find((stage) => stage === name);
}

function misuse(message: string): TypeError {
  return Object.assign(new TypeError(`defineProperty: ${message}`), { code: 'ERR_PROPERTY' });
}
