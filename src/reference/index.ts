// The oracles, one file a stage.

export * from './advantages.ts';
export * from './aggregation.ts';
export * from './collate.ts';
export * from './contract.ts';
export * from './decode.ts';
export * from './extract.ts';
export * from './gae.ts';
export * from './kl.ts';
export * from './logprobs.ts';
export * from './loss.ts';
export * from './loss-variants.ts';
export * from './mask.ts';
export * from './overlong.ts';
export * from './pack.ts';
export * from './penalties.ts';
export * from './preference.ts';
export * from './sampling.ts';
export * from './schedule.ts';
export * from './sft.ts';
export * from './token-rewards.ts';
export * from './tolerance.ts';
export * from './tools.ts';
export * from './trajectory.ts';
export * from './truncate.ts';
export * from './unroll.ts';
export * from './whiten.ts';
