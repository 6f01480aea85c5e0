// The oracles, one file a stage.

export * from './advantages.ts';
export * from './aggregation.ts';
export * from './collate.ts';
export * from './contract.ts';
export * from './extract.ts';
export * from './kl.ts';
export * from './logprobs.ts';
export * from './loss.ts';
export * from './loss-variants.ts';
export * from './mask.ts';
export * from './penalties.ts';
export * from './sft.ts';
export * from './tolerance.ts';
