// What the tracer writes: one JSON object a line, one file a process of the traced script. PROTOCOL.md, "Trace",
// is this file in words. Written by src/python/lossproof_trace, read by read.ts, and readable by anyone.
import type { Tensor } from '../protocol/tensor.ts';

/** Version of the trace format; a file says its own in its first line. */
export const TRACE_VERSION = 1;

/** Integers of any width and float32, float64, as PROTOCOL.md has tensors. */
export type Array1 = Tensor;
export type Array2 = Tensor;

/**
 * The first line of each file, written before the script's own first line runs. Again where the rank is known only later
 * (init_process_group(rank=...) without RANK in the environment): the last one counts, for the whole file.
 */
export interface ProcessRecord {
  readonly kind: 'process';
  readonly trace: number;
  readonly pid: number;
  /** From torch.distributed, else RANK and WORLD_SIZE; 0 and 1 where they are not set. */
  readonly rank: number;
  readonly world: number;
  readonly argv: readonly string[];
  readonly python: string;
  /** ISO 8601, UTC. */
  readonly started: string;
}

/** Once, when torch is there and the first model is seen. */
export interface VersionsRecord {
  readonly kind: 'versions';
  /** Distribution to version: torch, and those of transformers, trl, peft, accelerate that were imported. */
  readonly versions: Readonly<Record<string, string>>;
  /** cpu, cuda, mps... of the first model. */
  readonly device: string;
}

/** A language model, when it is first called. */
export interface ModelRecord {
  readonly kind: 'model';
  /** Index, the same in all further records of this process. */
  readonly model: number;
  readonly class: string;
  /** Dotted name of the head's module; null where the head is no module of its own. */
  readonly head: string | null;
  readonly vocab_size: number;
  readonly hidden_size: number | null;
  readonly parameters: number;
  readonly dtype: string;
  /** How it knows positions, as far as its modules and configuration show. */
  readonly positions: 'rotary' | 'absolute' | 'relative' | 'unknown';
  /** Name or path that it was loaded from, '' where none. */
  readonly name: string;
}

/** A call of a language model outside of generate(). */
export interface ForwardRecord {
  readonly kind: 'forward';
  /** Index within the process. */
  readonly forward: number;
  readonly model: number;
  /** Optimiser steps of a language model done before it. */
  readonly step: number;
  /** Gradients were on, so that it may be trained. */
  readonly grad: boolean;
  readonly training: boolean;
  /** (B, T), as the model got them. */
  readonly input_ids: Array2;
  /** (B, T) of 0 and 1; null where none was given, or one of another shape, which `attention` then names. */
  readonly attention_mask: Array2 | null;
  readonly attention: 'mask' | 'none' | 'other';
  /** (B, T), as given, or as a model written by hand looked them up in its embedding of positions; null where neither. */
  readonly position_ids: Array2 | null;
  /** (B, T), if the script handed labels to the model. */
  readonly labels: Array2 | null;
  /** Log-probability of each input id given those before it, from the logits without temperature: (B, T), NaN in column 0 and wherever the logits were not there; null where they were not there at all. */
  readonly logprobs: Array2 | null;
  /** How its gradients meet those of other processes: averaged over this many (torch DDP, FSDP), or not at all (1). */
  readonly averaged_over: number;
  /** The adapters of a PEFT model were off: it stands for the reference. */
  readonly adapters_off: boolean;
  /**
   * The batch that was last taken from a torch DataLoader: number of the pass over a loader, number of the batch within it,
   * worker processes of the loader, rows that it fetches for a batch, and rows of its data set (0: not known). Absent: none was taken.
   */
  readonly batch?: readonly number[] | null;
  /** The largest probability of dropout among its parts in training mode; absent: none. */
  readonly dropout?: number | null;
  /** And among those in evaluation mode. */
  readonly dropout_off?: number | null;
}

/**
 * What a backward pass told of one forward pass. Position p = (row, column) is the one whose logits were trained:
 * a causal model's prediction of the token at column + 1. Only positions with a gradient are listed.
 */
export interface TrainedRecord {
  readonly kind: 'trained';
  readonly forward: number;
  /** Read off the gradient of the logits, or of the head's input. */
  readonly route: 'logits' | 'hidden';
  /** Of the gradient that was read. */
  readonly dtype: string;
  /** (n,) int32. */
  readonly rows: Array1;
  readonly columns: Array1;
  /** (n,) int32: the id that is trained; -1 where it was not looked for (cheap mode), where none fits, or where two fit as well. */
  readonly targets: Array1;
  /** (n,) -dL/dlogprob of the target, unscaled by a gradient scaler; NaN where not measured. */
  readonly weights: Array1;
  /** (n,) norm of what the target does not explain over the norm of the gradient, an estimate in the cheap mode; NaN where not measured. */
  readonly residuals: Array1;
  /** (n,) temperature that the logits were divided by; NaN where not measured or not to be told. */
  readonly temperatures: Array1;
  /** (n,) log-probability of the target at that temperature; NaN where not measured. */
  readonly logprobs: Array1;
  /** Positions whose gradient is NaN or infinite; they are not listed. */
  readonly not_finite: number;
  /** What else than single targets was recognised in the loss; the weights are exact with it. */
  readonly terms?: readonly TermRecord[] | null;
  /** It came by torch.autograd.grad: the optimiser gets what the script makes of it, which a later step's `passes` tells. */
  readonly pass?: number | null;
}

/** A part of a loss that is over the whole vocabulary. */
export interface TermRecord {
  readonly kind: 'smoothing' | 'entropy' | 'teacher' | 'softcap' | 'normalizer';
  /** Of label smoothing: the share that all tokens have alike. */
  readonly epsilon?: number | null;
  /** Of a teacher, or of entropy: its coefficient, added up over the positions; null where it is not known. */
  readonly sum?: number | null;
  /** The loss falls where the entropy rises. */
  readonly rewarded?: boolean | null;
  /** The teacher. */
  readonly model?: number | null;
  readonly temperature?: number | null;
  /** cap tanh(z / cap) lies between the head and the loss, and nobody declares it. */
  readonly cap?: number | null;
}

/** A call of generate(), or whatever else sampled: one record a call. */
export interface GenerateRecord {
  readonly kind: 'generate';
  readonly generate: number;
  /** Absent: an engine or a server, whose model is none of the process. */
  readonly model?: number;
  readonly step: number;
  /** `generate`: transformers'; `loop`: calls of the model by the script, followed; else the name of what sampled. Absent in older traces: generate. */
  readonly source?: string;
  /** (B, P) and its mask, as given. */
  readonly input_ids: Array2;
  readonly attention_mask: Array2 | null;
  /** (B·n, P + C): prompt and what was sampled, padded. */
  readonly sequences: Array2;
  readonly prompt_width: number;
  /** Sequences for each row of input_ids. */
  readonly copies: number;
  readonly eos_token_ids: readonly number[];
  readonly pad_token_id: number | null;
  readonly do_sample: boolean;
  readonly temperature: number | null;
  readonly max_new_tokens: number | null;
  /** Everything else of the generation configuration that is not its default. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** (B·n,) tokens of each completion, where they are known; what stands behind them is padding. */
  readonly lengths?: readonly number[];
  /** (B·n,) so many of the prompt's last tokens may have been sampled, and so many of the completion's first given. */
  readonly unsure_before?: readonly number[];
  readonly unsure_behind?: readonly number[];
  /** The last token of each completion may be missing: it was drawn where nobody saw it. */
  readonly open?: boolean;
}

/**
 * An optimiser's step, after it. Several of one index: optimisers that share the model's parameters, or step one after
 * the other without a forward pass between.
 */
export interface StepRecord {
  readonly kind: 'step';
  /** Index within the process: the `step` of the forwards before it. */
  readonly step: number;
  readonly optimizer: string;
  /** Models whose parameters it holds; empty: it is not of a language model, and not counted. */
  readonly models: readonly number[];
  /** Norm over all gradients it holds, as they were when it was called. */
  readonly gradient_norm: number | null;
  readonly changed: boolean;
  /** Of each parameter group. */
  readonly learning_rates: readonly number[];
  /** A gradient scaler met an infinite gradient and left the step out: its gradients are spent, nothing was trained. */
  readonly skipped?: boolean | null;
  /** Forward passes before it whose gradients were set to nothing again, so that they are not in the step. */
  readonly dropped?: readonly number[] | null;
  /** Where in the script (file:line) gradients that had arrived since the step before were last set to nothing; '' not known. */
  readonly zeroed?: string | null;
  /** It holds none of the models' own tensors, and stands for them: copies in another precision, or what was left behind. */
  readonly copies?: boolean | null;
  /** It was given a closure, which computes the gradients inside of the step. */
  readonly closure?: boolean | null;
  /** Where in the script it was called (file:line). */
  readonly place?: string | null;
  /** Backward passes since the step before, and where in the script they were called, each place once. */
  readonly backwards?: number | null;
  readonly backward_places?: readonly string[] | null;
  /** Of what torch.autograd.grad computed before it: `pass` of each, and its factor in the step; null where that is not known. */
  readonly passes?: readonly number[] | null;
  readonly factors?: readonly (number | null)[] | null;
}

/**
 * The floating-point tensors of a model, where several processes of one group call it for training; again where they are no
 * longer the same.
 */
export interface ReplicaRecord {
  readonly kind: 'replica';
  readonly model: number;
  readonly names: readonly string[];
  /** Of each, '32x48'. */
  readonly shapes: readonly string[];
  /** Indices of those of which other processes need not have the same: shards, and what a wrapper was told to ignore. */
  readonly apart: readonly number[];
  /** What shares its gradients: DistributedDataParallel, FullyShardedDataParallel, FSDPModule, DeepSpeedEngine; null: nothing known. */
  readonly wrapper: string | null;
  /** The wrapper does not exist any more. */
  readonly gone: boolean;
  /** Ranks that have a part of the data each: the wrapper's group, or all; none: not known, some may share a row. */
  readonly group: readonly number[];
}

/**
 * A number over the bits of a few fixed elements of each tensor of `replica`: equal where these are equal. Parameters as they
 * were before `step`, looked at when the model was first called for it; gradients as the optimiser found them.
 */
export interface ChecksumsRecord {
  readonly kind: 'checksums';
  readonly model: number;
  readonly step: number;
  readonly of: 'parameters' | 'gradients';
  /** (n,) below 2**48; -1: it was not looked at. */
  readonly sums: Array1;
  /** (n,) norms of those elements of the gradients. */
  readonly sizes?: Array1 | null;
  /** (k,) a few elements of the accumulated gradients before a script without a wrapper reduces them, and behind that, before they are clipped. */
  readonly local?: Array1 | null;
  readonly reduced?: Array1 | null;
  /** Calls for training since the step before, those of them through the wrapper, and those that it was to reduce behind. */
  readonly calls?: number | null;
  readonly through?: number | null;
  readonly synced?: number | null;
  /** Inside of torch's Join: processes may have fewer batches than others. */
  readonly joined?: boolean | null;
  /** One of torch's averagers of parameters was made: local SGD. */
  readonly periodic?: boolean | null;
}

/** Names of a model's tensors, in the order in which `update` counts them; the latest one counts. */
export interface TensorsRecord {
  readonly kind: 'tensors';
  readonly model: number;
  readonly names: readonly string[];
  /** Elements of this process. */
  readonly sizes: readonly number[];
  readonly dtypes: readonly string[];
}

/** What an optimiser's step did with the tensors of one model, before the step's own record. (n,) each. */
export interface UpdateRecord {
  readonly kind: 'update';
  readonly model: number;
  readonly step: number;
  /** Index of the optimiser, within the process. */
  readonly optimizer: number;
  readonly place?: string | null;
  /** int32, into the model's `tensors`. */
  readonly tensors: Array1;
  /** Of the gradient before the step; NaN: it has none; infinite: it is not finite. */
  readonly norms: Array1;
  /** Size of the gradient where it is largest, and of the parameter there; NaN: not known. */
  readonly peaks: Array1;
  readonly beside: Array1;
  /** int32: 1 where an element that was compared is another one behind the step, 0 where none is, -1 not known. */
  readonly moved: Array1;
  /** Of its group in the optimiser; NaN where that does not hold it. */
  readonly rates: Array1;
  readonly decays: Array1;
  /** int32: how often the optimiser holds it. */
  readonly held: Array1;
  /** int32, 0 or 1: it requires a gradient. */
  readonly trainable: Array1;
}

/**
 * Something that was seen of a step, or before the first one. `what`:
 * left-over, again: `names` are tensors whose gradient is the step's before, with a backward pass since or without;
 * scaled: the factor of a gradient scaler is still on the gradients; reworked: they are not what the last backward pass left;
 * strangers: the optimiser holds tensors of no model, without a gradient; clip, schedule: a call of clipping, calls of a scheduler;
 * followed: whether a model moved behind a step on copies; between: it moved while no optimiser stepped;
 * loaded, not-loaded, tied, untied, no-freeze: what a training began with.
 */
export interface EventRecord {
  readonly kind: 'event';
  readonly what: string;
  readonly step: number;
  readonly model: number | null;
  /** file:line in the script. */
  readonly place: string | null;
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** A tokenizer of the script, saved beside the trace. */
export interface TokenizerRecord {
  readonly kind: 'tokenizer';
  /** Folder, relative to the trace's. */
  readonly folder: string;
  readonly class: string;
  readonly vocab_size: number;
  readonly pad_token_id: number | null;
  readonly eos_token_id: number | null;
  readonly bos_token_id: number | null;
}

/** Settings of a trainer object that the script made: what of them is plain JSON. */
export interface SettingsRecord {
  readonly kind: 'settings';
  /** Of the arguments, and of the trainer: GRPOConfig, GRPOTrainer. */
  readonly class: string;
  readonly trainer: string;
  /** Trainers of libraries that it derives from, nearest first: a script's own trainer may differ from them in anything. */
  readonly bases?: readonly string[] | null;
  /** Top-level package of the trainer's class: trl, transformers, __main__. */
  readonly library?: string | null;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Something that the tracer cannot see, as a sentence for the user. */
export interface BlindRecord {
  readonly kind: 'blind';
  /** compiled, uncompiled (a note: it was seen, run otherwise), vllm, no-head, no-logits, embeds, virtual-tokens... Permanent. */
  readonly what: string;
  readonly sentence: string;
}

/** A fault of the tracer itself; the script goes on. */
export interface TroubleRecord {
  readonly kind: 'trouble';
  readonly where: string;
  readonly traceback: string;
}

/** The last line of a process that ended by itself. */
export interface EndRecord {
  readonly kind: 'end';
  /** The steps asked for are done; the script came to its end; or an exception ended it. */
  readonly reason: 'steps' | 'finished' | 'exception';
  readonly exception: string | null;
  /** Whether torch was imported, calls of any torch module seen, and calls of compiled ones. */
  readonly torch: boolean;
  readonly modules_called: boolean;
  /** Spent in the tracer, and since its first record. */
  readonly tracer_seconds: number;
  readonly seconds: number;
}

export type TraceRecord =
  | ProcessRecord
  | VersionsRecord
  | ModelRecord
  | ForwardRecord
  | TrainedRecord
  | GenerateRecord
  | StepRecord
  | ReplicaRecord
  | ChecksumsRecord
  | TensorsRecord
  | UpdateRecord
  | EventRecord
  | TokenizerRecord
  | SettingsRecord
  | BlindRecord
  | TroubleRecord
  | EndRecord;
