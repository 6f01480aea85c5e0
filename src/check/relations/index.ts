// The general relations under one name.
export * from './compare.ts';
export * from './knobs.ts';
export * from './relations.ts';
export type { Relation } from './rules.ts';
export * from './transform.ts';
