// The general relations under one name.
export * from './compare.ts';
export * from './knobs.ts';
export * from './matrix.ts';
export * from './relations.ts';
export * from './transform.ts';
