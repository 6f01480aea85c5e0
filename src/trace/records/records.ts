// What the tracer writes: one JSON object a line, one file a process of the traced script. PROTOCOL.md, "Trace",
// is this file in words. Written by src/python/lossproof_trace, read by read.ts, and readable by anyone.
import type { Tensor } from '../../protocol/tensor.ts';
import type { Ids } from '../../vocabulary.ts';
import type {
  ChecksumsRecord,
  EventRecord,
  ReplicaRecord,
  StepRecord,
  TensorsRecord,
  UpdateRecord,
} from './steps.ts';

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
  /** Under Ray, what the process is: `driver`, `actor Learner`, `task rollout`; null where nothing was given to it. */
  readonly name?: string | null;
  /** And the machine that it runs on. */
  readonly node?: string | null;
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
  /** 0: it predicts no token (a reward model, a critic, a classifier). */
  readonly vocab_size: number;
  readonly hidden_size: number | null;
  readonly parameters: number;
  readonly dtype: string;
  /** How it knows positions, as far as its modules and configuration show. */
  readonly positions: 'rotary' | 'absolute' | 'relative' | 'unknown';
  /** Name or path that it was loaded from, '' where none. */
  readonly name: string;
  /** Ids that stand where a part of an image, a video or sound is put in. */
  readonly placeholders?: Ids | undefined;
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
  /** Its rows hold several examples, and attention lets one of them see those before it, or none; absent: not seen. */
  readonly across?: boolean | null;
  /** The largest probability of dropout among its parts in training mode, or, without gradients, of a function that was called; absent: none. */
  readonly dropout?: number | null;
  /** And among those in evaluation mode. */
  readonly dropout_off?: number | null;
  /** Seconds since 1970, when it was written: puts what other processes do in order with the steps. Absent in older traces. */
  readonly time?: number | null;
}

/**
 * What a backward pass told of one forward pass. Position p = (row, column) is the one whose logits were trained:
 * a causal model's prediction of the token at column + 1. Only positions with a gradient are listed.
 */
export interface TrainedRecord {
  readonly kind: 'trained';
  readonly forward: number;
  /** Read off the gradient of the logits, or of the head's input; or that of scores: then no token is a target, and weights are -dL/dscore. */
  readonly route: 'logits' | 'hidden' | 'scores';
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
  /** How many of the positions could not be read whole, by why (unread.ts); those that nothing explains are not among them. */
  readonly unread?: Readonly<Record<string, unknown>> | null;
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
  /** The loss falls where the entropy rises, or the size of the logits. */
  readonly rewarded?: boolean | null;
  /** The teacher. */
  readonly model?: number | null;
  readonly temperature?: number | null;
  /** Which divergence from it (`reverse`, `jsd`), absent: KL(teacher, model); and its share in the mixture of a Jensen-Shannon one. */
  readonly toward?: string | null;
  readonly mixed?: number | null;
  /** The teacher's word on so many columns later is in the loss; absent: on the same. */
  readonly columns?: number | null;
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
  /**
   * (B·n, C) log-probability that each token of a completion was sampled with: by generate() after temperature, top-p and all processors, from
   * an engine as it gave them. NaN where not known. Absent: none is.
   */
  readonly sampling_logprobs?: Array2;
  /** The last token of each completion may be missing: it was drawn where nobody saw it. */
  readonly open?: boolean;
  /** As that of a forward pass. */
  readonly time?: number | null;
}

/** Fingerprints of a model's tensors at a step, in runs that are compared (src/twin/). */
export interface PrintsRecord {
  readonly kind: 'prints';
  readonly model: number;
  readonly step: number;
  /** Weights before the first step, gradients as an optimiser finds them and their signs, weights after the step. */
  readonly of: 'before' | 'gradients' | 'signs' | 'after';
  readonly names: readonly string[];
  /** (n, 1 + R) float64: the norm of each tensor, and R sums of its elements under fixed random signs; NaN where there is none. */
  readonly prints: Array2;
}

/** Fingerprints of what the modules of a model returned in a forward pass, in runs that are compared. */
export interface OutputsRecord {
  readonly kind: 'outputs';
  readonly forward: number;
  /** Dotted names, in the order of the model. */
  readonly modules: readonly string[];
  /** (n · B, R) float64: of each module, for each row, sums over its tokens that are no padding. */
  readonly prints: Array2;
}

/** Fingerprints of the gradients at the outputs and inputs of its modules that its backward pass delivered, in such runs. */
export interface BackwardRecord {
  readonly kind: 'backward';
  readonly forward: number;
  /** Dotted names, in the order in which the backward pass reached them. */
  readonly modules: readonly string[];
  /** (n,) `output` or `input`: of what of the module. */
  readonly sides: readonly string[];
  /** (n · B, R) float64, as those of outputs. */
  readonly prints: Array2;
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
  | PrintsRecord
  | OutputsRecord
  | BackwardRecord
  | TokenizerRecord
  | SettingsRecord
  | BlindRecord
  | TroubleRecord
  | EndRecord;
