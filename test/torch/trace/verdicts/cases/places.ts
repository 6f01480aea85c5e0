// Where people train: PEFT, sharded and compiled models, accelerate, Lightning, recipes, tokenizers of other kinds.
import type { Cases } from './kinds.ts';

export const places: Cases = {
  clean: {},
  faulty: {},
};
