// What the tracer writes of optimisers: their steps, what became of each tensor, and the same over several processes.
import type { Tensor } from '../../protocol/tensor.ts';

type Array1 = Tensor;

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
  /** As that of a forward pass: when it was made. */
  readonly time?: number | null;
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
 * scaled: the factor of a gradient scaler is still on the gradients; reworked: they are not what the last backward pass left
 * (`by`: all of them times that, before clipping); partition: what DeepSpeed's optimiser gets of this rank's part of the gradient
 * is `factor` times what the last backward pass left, at an angle of this `cosine`;
 * strangers: the optimiser holds tensors of no model, without a gradient; clip: a call of clipping;
 * schedule: calls of a scheduler since the step before, and the step or epoch that it is at (`last`);
 * followed: whether a model moved behind a step on copies; between, made-anew: it moved while no optimiser stepped, between two
 * micro-batches or between two steps; beside: the hidden states have a gradient that the logits do not explain (`share`);
 * loss: the number that a backward pass begins with (`value`), and what its gradient says that it is (`explained`), over `tokens`;
 * head: the gradient of the head's weight is `factor` times what its calls say that it is, at an angle of this `cosine`;
 * state: of the parameters that were looked at (`of`), how many lost the state that the step before left, or have another one; `count`: steps that the optimiser has made by its own counter;
 * delivered: how often each backward pass is in the gradient that the optimiser gets (`factors`), and what the fit leaves (`rest`);
 * slope: tensors that were moved along their gradients, and of each (`ratios`) the difference of the loss over what the gradient promises;
 * added: tokens that the script added to the tokenizer (`ids`), in rows of `names` and `head`; `grown`: which were made for them, and
 * then `written` (ids) by the script or not;
 * order: a pass of a loader that shuffles, beside the one before (`passes`), by its first indices (`indices` of them): whether they are the
 * `same`; `epoch`, where the sampler has one to be set;
 * loaded, not-loaded, tied, untied, no-freeze: what a training began with;
 * twin, dropout, unreachable: of runs that are compared, the change that was made, dropout that draws, a machine that was not reached.
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
