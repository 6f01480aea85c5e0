// The field's words as types, and the legal choices as objects (vocabulary/). Nothing here computes; everything else imports
// from here.
// Shapes: B rows, T columns, P prompt columns, C completion columns, V vocabulary, G group size.
// Every per-token matrix inside the harness is token-aligned over the whole row: index t speaks of token t
// as a target. Only protocol/layout.ts knows that trainers do otherwise.
import type { Semantics } from './vocabulary/choices.ts';

export {
  type Clamp,
  type ClampByEstimator,
  FORMULAS,
  type Formula,
  KL_ESTIMATORS,
  type KlEstimator,
  type TemplateArguments,
} from './vocabulary/choice.ts';
export { CHOICES, type ItemName, itemsOf, type Semantics } from './vocabulary/choices.ts';

/** What one legal choice may be. */
type Chosen<Name extends keyof Semantics> = Exclude<Semantics[Name], undefined>;

/** Token ids of one row, (n,). */
export type Ids = readonly number[];
/** Rows of unequal length, (B, ·). */
export type Ragged = readonly (readonly number[])[];
/** A rectangle of numbers, (B, T): ids, masks, log-probabilities. */
export type Matrix = readonly (readonly number[])[];
/** Logits, (B, T, V). */
export type Cube = readonly Matrix[];

export interface Message extends TrainFlags {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
}

/** A message as processors of images take it: text and images in the order in which they are read. An image has one colour. */
export interface MultimodalMessage {
  readonly role: Message['role'];
  readonly content: readonly (TextPart | ImagePart)[];
}
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}
export interface ImagePart {
  readonly type: 'image';
  readonly width: number;
  readonly height: number;
  /** Red, green and blue, 0 to 255. */
  readonly color: readonly number[];
}

/** What a message says itself about being trained, under the name that the trainer reads. */
export const TRAIN_FLAGS = ['train', 'training', 'loss', 'weight'] as const;
export type TrainFlagName = (typeof TRAIN_FLAGS)[number];
type TrainFlags = { readonly [Name in TrainFlagName]?: boolean | 0 | 1 | null };

/** Which code path of the trainer renders and tokenises: supervised fine-tuning or reinforcement learning. */
export type Route = 'sft' | 'rl';
export type PaddingSide = 'left' | 'right';
/** Where ids of a tool's response are lost: in the middle, the head and the tail stay. */
export type ToolTruncationSide = Chosen<'tool_truncation_side'>;
export type DType = 'float64' | 'float32' | 'bfloat16' | 'float16';

/** The label value that every framework ignores (torch's cross_entropy default). */
export const IGNORE_INDEX = -100;

/**
 * Where the trainer's per-token arrays live.
 * alignment `token`: index t speaks of token t. `predictor`: index t speaks of token t+1 (the logits' position).
 * span `row`: the array covers the whole row. `completion`: it covers the last C columns only.
 */
export interface Layout {
  readonly alignment: 'token' | 'predictor';
  readonly span: 'row' | 'completion';
}

/** How per-token losses become one number. `norm` divides by a constant. */
export type LossAggregation = Chosen<'loss_aggregation'>;
export type ValueAggregation = Chosen<'value_aggregation'>;

/**
 * The importance ratio is one a token (PPO, GRPO), or one a row, the geometric mean of its tokens' (GSPO). none: there is
 * no ratio and no clip, every batch is used once (REINFORCE).
 */
export type RatioLevel = Chosen<'ratio_level'>;

/** Special ids and vocabulary that the trainer is fixed to. Absent: the harness chooses them per case. */
export interface Tokens {
  readonly vocab_size: number;
  readonly pad_token_id: number;
  readonly eos_token_ids: Ids;
  readonly bos_token_id?: number;
}

/** One step of a pipeline's replay buffer, as op `contract` hands it over. */
export interface Segment {
  readonly prompt_ids: readonly number[];
  readonly completion_ids: readonly number[];
  readonly reward: number;
}

/** One turn of an agent's rollout: sampled by the policy, or injected by a tool or a user. */
export interface Turn {
  readonly role: 'assistant' | 'tool' | 'user';
  readonly ids: readonly number[];
  /** The sampler's, one an id; empty where nothing was sampled. */
  readonly logprobs: readonly number[];
  /** Why sampling ended; 'none' where nothing was sampled. */
  readonly finish_reason: 'stop' | 'length' | 'none';
}

/** A tool and the kinds of its arguments, all of them required. */
export interface ToolSpec {
  readonly name: string;
  readonly parameters: Readonly<Record<string, 'string' | 'number' | 'boolean'>>;
}

/** What a token is in its row. */
export type Role = 'system' | 'prompt' | 'completion' | 'tool' | 'stop' | 'after stop' | 'padding';

/** How much it says against a trainer that breaks a property: most first. */
export const LEVELS = ['must', 'should', 'may'] as const;
export type Level = (typeof LEVELS)[number];

export const VERDICTS = [
  'pass',
  'fail',
  'error',
  'ask',
  'thin',
  'changed',
  'stale',
  'unseen',
  'known',
  'unsupported',
  'skipped',
  'interrupted',
] as const;
export type Verdict = (typeof VERDICTS)[number];

/**
 * What a run must not exit 0 with. `ask`: what was seen is legal where it is meant, and nobody has said that it is.
 * `thin`: no case failed, but too few had what the property promises to try, or more than half were set aside. Of the
 * known failures: `changed` fails otherwise than recorded, `stale` holds now, `unseen` was judged by no case.
 */
export const FAILING: readonly Verdict[] = ['fail', 'error', 'ask', 'thin', 'changed', 'stale', 'unseen'];
export const UNJUDGED: readonly Verdict[] = ['unsupported', 'skipped', 'interrupted'];
