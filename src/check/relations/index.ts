// The general relations under one name.
export * from './compare.ts';
export * from './knobs.ts';
export * from './relations.ts';
export type { Relation } from './rule.ts';
export * from './transform.ts';
