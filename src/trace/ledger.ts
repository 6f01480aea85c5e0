// The ledger: what a traced script trained, row by row, over all of its processes. Made from records by ledger-of.ts; the
// ledger properties read nothing else.
import type { Tokenizer } from '../tokenizers/tokenizer.ts';
import type { Ids, Role, Semantics } from '../vocabulary.ts';
import type {
  BlindRecord,
  EndRecord,
  ModelRecord,
  ProcessRecord,
  TermRecord,
  TroubleRecord,
} from './records/records.ts';
import type { ReplicaSet } from './replicas.ts';

export interface Ledger {
  readonly processes: readonly LedgerProcess[];
  readonly models: readonly LedgerModel[];
  /** In order; of several processes, theirs side by side. */
  readonly steps: readonly LedgerStep[];
  /** What each step of an optimiser did with each tensor of a model, in the order of the steps. */
  readonly updates: readonly LedgerUpdate[];
  /** What else was seen of steps, and of what a training began with. */
  readonly events: readonly LedgerEvent[];
  /** Every row of every forward pass that might be trained, in the order of step, rank, forward, row. */
  readonly rows: readonly LedgerRow[];
  /** Rows of forward passes without gradients: the reference's, and log-probabilities of the sampling policy. */
  readonly scored: readonly ScoredRow[];
  /** Rows whose gradients were set to nothing before the optimiser had them: skipped, or for nothing. Absent: none. */
  readonly discarded?: readonly DiscardedRow[];
  readonly generations: readonly Generation[];
  /** Processes that hold the same tensors, compared; absent: none was. */
  readonly replicas?: readonly ReplicaSet[];
  readonly settings: Settings;
  readonly unmatchedDataset?: true;
  readonly tokenizer: Tokenizer | undefined;
  /** Absent: the tokenizer has no chat template, or one that opens answers with no mark of its own. */
  readonly template?: TemplateMarks | undefined;
  readonly versions: Readonly<Record<string, string>>;
  /** The trace of the training that this one goes on with; absent: none is named. */
  readonly earlier?: Ledger;
}

/** What the chat template writes around contents, as ids. */
export interface TemplateMarks {
  /** Before a content: without the white space at its end, and with it. */
  readonly headers: readonly { readonly name: string; readonly marks: Ids; readonly whole: Ids }[];
  /** The token that it ends answers with; undefined where it writes none. */
  readonly closing: number | undefined;
  /** That, and the tokenizer's own. */
  readonly stops: ReadonlySet<number>;
}

export interface LedgerProcess extends Omit<ProcessRecord, 'kind' | 'trace'> {
  /** Absent: it was killed, or is still running. */
  readonly end: EndRecord | undefined;
  readonly blind: readonly BlindRecord[];
  readonly troubles: readonly TroubleRecord[];
}

export interface LedgerModel extends Omit<ModelRecord, 'kind'> {
  readonly rank: number;
  /** An optimiser holds its parameters, or not. */
  readonly role: 'policy' | 'frozen';
}

/** One optimiser step of all ranks: what was trained since the one before. */
export interface LedgerStep {
  readonly index: number;
  readonly ranks: readonly RankStep[];
}

export interface RankStep {
  readonly rank: number;
  readonly optimizer: string;
  /** Absent where the process ended before the step was made: its rows are there, the step is not. */
  readonly done?: {
    readonly gradientNorm: number | null;
    readonly changed: boolean;
    readonly learningRates: readonly number[];
    /** A gradient scaler left it out: nothing was trained, and nothing is wrong with that. */
    readonly skipped?: boolean;
    /** Forward passes before it whose gradients were set to nothing, so that they are not in the step. */
    readonly dropped?: readonly number[];
    /** Where gradients were last set to nothing before it, though they had arrived since the step before; '' not known. */
    readonly zeroed?: string;
    /** The optimiser holds copies of the model's tensors, or what was taken for them. */
    readonly copies?: boolean;
    /** The gradients were computed by a closure, inside of the step. */
    readonly closure?: boolean;
    /** file:line in the script. */
    readonly place?: string;
    /** Backward passes since the step before, and the places in the script that call them. */
    readonly backwards?: number;
    readonly backwardPlaces?: readonly string[];
  };
}

/** One optimiser's step, by tensor of one model: those that it holds, and of one that is the first of its step all others. */
export interface LedgerUpdate {
  readonly rank: number;
  readonly step: number;
  readonly model: number;
  /** Index within the process. */
  readonly optimizer: number;
  readonly place?: string;
  readonly tensors: readonly TensorUpdate[];
}

export interface TensorUpdate {
  readonly name: string;
  /** Elements, of this process. */
  readonly size: number;
  readonly dtype: string;
  /** Of its gradient before the step. Undefined: it has none. Infinity: not a number. */
  readonly norm?: number;
  /** Size of the gradient where it is largest, and of the parameter there. */
  readonly peak?: number;
  readonly beside?: number;
  /** Undefined: not compared. */
  readonly moved?: boolean;
  /** How often the optimiser holds it, and with what. */
  readonly held: number;
  readonly rate?: number;
  readonly decay?: number;
  /** It requires a gradient. */
  readonly trainable: boolean;
}

/** records.ts says what each is. */
export interface LedgerEvent {
  readonly rank: number;
  readonly step: number;
  readonly what: string;
  readonly model?: number;
  readonly place?: string;
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** What was read off the gradient for one token as a target. */
export interface Trained {
  /** Undefined: it was not looked for (cheap mode), or no single target fits. */
  readonly target: number | undefined;
  /** -dL/dlogprob in the optimiser's step: over all ranks that are averaged. Undefined where not measured. */
  readonly weight: number | undefined;
  readonly residual: number | undefined;
  readonly temperature: number | undefined;
  readonly logprob: number | undefined;
  /** Label smoothing without a target: this weight is spread over the whole vocabulary, and `weight` is 0. Absent: none. */
  readonly spread?: number;
  /** Of a divergence from a teacher, without a target, weight and residual: its weight, null where not measured. Absent: none. */
  readonly taught?: number | null;
}

/** Where a row stands. */
export interface Place {
  readonly step: number;
  readonly rank: number;
  /** Forward pass within its process; those of one step are its micro-batches. */
  readonly forward: number;
  /** Within the batch of that forward pass. */
  readonly row: number;
  readonly model: number;
}

export interface RowIds extends Place {
  /** (T,), padding included. */
  readonly ids: Ids;
  /** (T,); absent where the model was given no mask of this shape; `unmasked`: nor any other. */
  readonly attention?: readonly number[];
  readonly unmasked?: boolean;
  /** (T,); absent where the model was given none. */
  readonly positions?: readonly number[];
  /** (T,): the tokens of the example. By `attention`; where there is none, all but a run of pad ids at either end. */
  readonly real: readonly boolean[];
  /** (T,) log-probabilities without temperature of each token, NaN where not known; absent: none known. */
  readonly logprobs?: readonly number[];
  /** Attention lets an example of its forward pass see those before it in its row; absent: it has no such row, or it was not seen. */
  readonly across?: boolean;
  /** The largest probability of dropout that was on in its forward pass, whatever the mode, and that was off; absent: none. */
  readonly dropout?: number;
  readonly dropoutOff?: number;
}

export interface LedgerRow extends RowIds {
  /** (T + 1,), token-aligned: index t speaks of token t as a target. What stands at T was trained behind the row's end. */
  readonly trained: readonly (Trained | undefined)[];
  /** A backward pass reached this forward pass, were it with zeros only. */
  readonly reached: boolean;
  /** Positions with a gradient of NaN or infinity in its forward pass. */
  readonly notFinite: number;
  /** Relative precision of weights and residuals, by the gradient's dtype: see bands.ts. */
  readonly dtype: string;
  /** Processes whose gradients are averaged, as observed, or as torch's wrappers say (DDP, FSDP); 1: this one stands alone. Absent: not known. */
  readonly averagedOver?: number;
  /** The model was in train mode. Absent: not known. */
  readonly training?: boolean;
  /** The batch of a torch DataLoader that was taken last. */
  readonly batch?: TakenBatch;
  /** What else is in the loss of its forward pass, as recognised; absent: nothing. */
  readonly terms?: readonly TermRecord[];
  /** Positions of its forward pass that could not be read whole, by why (unread.ts); absent: none. */
  readonly unread?: Readonly<Record<string, number>>;
  /** What each token is and whether it should be trained, and how that is known. */
  readonly spans: Spans;
}

export interface TakenBatch {
  /** Number of the pass over a loader, and of the batch within it. */
  readonly pass: number;
  readonly number: number;
  /** Worker processes of the loader. */
  readonly workers: number;
  /** Rows that it fetches for a batch; undefined: not known. */
  readonly size: number | undefined;
  /** Rows of its data set; undefined: not known, as of a stream. */
  readonly of: number | undefined;
}

export interface DiscardedRow extends RowIds {
  readonly batch?: TakenBatch;
}

export interface ScoredRow extends RowIds {
  /** Another model than the policy, or the policy with its adapters off; else the policy itself. */
  readonly by: 'reference' | 'policy';
  /** The model was in train mode. Absent: not known. */
  readonly training?: boolean;
  /** The model was given labels, so that it computes a loss: an evaluation. */
  readonly labelled?: true;
  /** The batch of a torch DataLoader that was taken last. */
  readonly batch?: TakenBatch;
}

/** How the harness knows what of a row should be trained. */
export type Origin =
  /** The row is one of the data set that was given. */
  | {
      readonly kind: 'dataset';
      readonly example: number;
      readonly form: string;
      /** The same ids stand in others of the data set, too, which it may as well be. */
      readonly shared?: true;
    }
  /** Its tokens were sampled by recorded generate() calls: index into Ledger.generations, in the order of the row. */
  | { readonly kind: 'generation'; readonly generations: readonly number[] }
  /** The chat template's marks are in it; of a packed row, in so many of its sequences, and not in so many. */
  | { readonly kind: 'template'; readonly sequences?: { readonly chats: number; readonly texts: number } }
  /** No marks of a template: plain text, of which any part may be trained. */
  | {
      readonly kind: 'text';
      /** It holds such marks, and was taken for text because most rows beside it hold none (spans/plain.ts). */
      readonly marks?: true;
    }
  /** There is no tokenizer, or nothing that tells. */
  | { readonly kind: 'unknown'; readonly why: string };

export interface Spans {
  readonly origin: Origin;
  /** (T,) */
  readonly roles: readonly Role[];
  /** (T,): should token t be trained? Undefined: either is right, or nobody knows. */
  readonly expected: readonly (boolean | undefined)[];
  /** Of each completion or answer: columns [from, to), the stop token's where it ends with one. */
  readonly completions: readonly { readonly from: number; readonly to: number; readonly stop?: number }[];
}

/** One sampled sequence. */
export interface Generation {
  readonly rank: number;
  readonly step: number;
  /** Undefined: an engine or a server sampled. */
  readonly model: number | undefined;
  /** What sampled: `generate`, `loop`, or the name of an engine or a server. */
  readonly source?: string;
  /** Index of the generate() call, and row of its output. */
  readonly call: number;
  readonly row: number;
  /** Without padding. */
  readonly promptIds: Ids;
  /** Through the first stop token where there is one; padding behind it is not in it. */
  readonly completionIds: Ids;
  /** (C,) that the completion's tokens were sampled with, NaN where not known; absent: none is known. */
  readonly logprobs?: readonly number[];
  /** It ended with a stop token. */
  readonly stopped: boolean;
  readonly eosTokenIds: Ids;
  /** Undefined: greedy, or not known. */
  readonly temperature: number | undefined;
  /** Absent: all tokens could be drawn, or it is not known. */
  readonly topP?: number;
  readonly topK?: number;
  /** Some of its tokens were drawn from logits of which a few had been moved: a penalty, a bias, a ban. */
  readonly moved?: true;
  /** Tokens of the prompt were, and no others, before anything was sampled. */
  readonly promptMoved?: true;
  /** Of some draws of its loop nothing tells the temperature. */
  readonly unread?: true;
  /** So many of the prompt's last tokens may have been sampled, and so many of the completion's first given. */
  readonly unsure?: { readonly before: number; readonly behind: number };
  /** One token more may have been sampled behind it. */
  readonly open?: boolean;
}

/** What the script's own trainer arguments, and the user, say that the trainer does. */
export interface Settings {
  /** Where it is known from, for people: "GRPOConfig(loss_type='dapo')", "--semantics". Empty: nothing is declared. */
  readonly from: readonly string[];
  readonly semantics: Semantics;
  /** The trainer's class where it is a known one: SFTTrainer, GRPOTrainer, DPOTrainer, RLOOTrainer, Trainer... */
  readonly trainer: string | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  /** What the user says is meant to be trained: --train-on. */
  readonly trainOn: 'assistant' | 'last' | 'completion' | 'all' | undefined;
  /** Parts of names of tensors that the user says are frozen: --frozen. */
  readonly frozen?: readonly string[];
}
