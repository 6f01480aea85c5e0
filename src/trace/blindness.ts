// What could not be seen of a traced command, as sentences: what happened, and what to do. Where there is nothing to judge, or
// no whole step of it, the run must not count as a pass, whatever was judged.
import type { Ledger, LedgerProcess } from './ledger.ts';
import { scoresOnly } from './scorers.ts';
import { unknownIn } from './terms.ts';
import { unreadSentences } from './unread.ts';

/**
 * Sentences of what keeps the run from being a pass; empty: there is something to judge, and it is whole. That the script
 * failed by itself is said by whoever started it, who knows how it ended.
 */
export function blindness(ledger: Ledger): readonly string[] {
  return [...troubles(ledger), ...nothingSeen(ledger), ...unexplained(ledger), ...unmatched(ledger)];
}

/** Sentences of what was not seen beside what was: the run may pass, and they belong to its report. */
export function partlyBlind(ledger: Ledger): readonly string[] {
  const whole = nothingSeen(ledger).length > 0;
  const killed = ledger.processes.filter(({ end, rank }) => end === undefined && isOfModel(ledger, rank));
  return [
    ...blindSentences(ledger, true),
    ...(whole ? [] : blindSentences(ledger)),
    ...(unexplained(ledger).length > 0 ? [] : notRecognised(ledger)),
    ...unreadSentences(ledger.rows, unknownIn(ledger.rows).all),
    ...killed.map(
      (process) =>
        `${calledOf(process)} was ended from outside; only the part that it had ${typeof process.name === 'string' ? 'recorded' : 'trained'} until then is judged.`,
    ),
  ];
}

// --- helpers ---

function troubles(ledger: Ledger): readonly string[] {
  const all = ledger.processes.flatMap((process) => process.troubles);
  const [first] = all;
  if (first === undefined) return [];
  const more = all.length === 1 ? '' : ` (and ${all.length - 1} more)`;
  return [
    `The tracer itself failed at ${first.where}${more}: ${ended(lastLine(first.traceback))} The script went on; the missing part cannot be judged. Please report it with the trace's folder.`,
  ];
}

/**
 * Where no single target explains any gradient, nothing says that what was read is a prediction of tokens at all: a layer
 * that was taken for the head gives the same picture as a loss over the whole vocabulary.
 */
function unexplained(ledger: Ledger): readonly string[] {
  const { rows, models } = ledger;
  if (scoresOnly(ledger)) return [];
  const { open, all } = unknownIn(rows);
  const residuals = rows.flatMap(({ trained }) =>
    trained.flatMap((each) => (each?.residual === undefined ? [] : [each.residual])),
  );
  if (residuals.length === 0) return [];
  if (residuals.some((residual) => residual < HARDLY_EXPLAINED))
    // What few of the positions hold is no pass for the others.
    return open * 2 > all ? notRecognised(ledger) : [];
  const heads = [...new Set(models.flatMap(({ head }) => (head === null ? [] : [head])))];
  const found = heads.length === 0 ? 'the head' : `the head that was found (${heads.join(', ')})`;
  return [
    `No single target explains the gradient at any position. Either the loss is over the whole vocabulary (distillation, or an entropy bonus that is larger than the rest), or ${found} does not predict the tokens. Name the head in the script, after the model: import lossproof_trace; lossproof_trace.watch(model, head=...).`,
  ];
}

/** Who names the data set asks what should be trained: no pass where that was not found out. */
function unmatched({ unmatchedDataset, tokenizer }: Ledger): readonly string[] {
  if (unmatchedDataset !== true) return [];
  const them = 'no row of --dataset was found in the rows that the model was given';
  return [
    tokenizer === undefined
      ? `What should be trained is not known: no tokenizer was seen, so ${them}. Add --tokenizer DIR, the folder with its tokenizer.json; for a tokenizer of your own, declare the ids around each turn with --marks (docs/trace.md).`
      : `What should be trained is not known: ${them}. Name the file that the script trains on; if it writes the rows in a format of its own, give that to the tokenizer as its chat template.`,
  ];
}

/** Of some positions, or of all. */
function notRecognised({ rows, models }: Ledger): readonly string[] {
  if (scoresOnly({ models })) return [];
  const { open, all } = unknownIn(rows);
  if (open === 0) return [];
  const at = open === all ? `all ${all} trained positions` : `${open} of ${all} trained positions`;
  return [
    `The loss at ${at} depends on the whole vocabulary in a way that is not recognised: targets and weights there are not known (\`?\`), and no rule judges them. A teacher that was called where the trace does not look, or a term of the script's own, does this.`,
  ];
}

function nothingSeen(ledger: Ledger): readonly string[] {
  const { processes, models, rows } = ledger;
  if (processes.length === 0)
    return [
      'No Python process of the command was traced. The tracer is loaded through PYTHONPATH: Python started with -I, -E or -S ignores it, and so does a command on another machine or in a container. Run the script directly: npx lossproof trace -- python train.py.',
    ];
  const torch =
    ledger.versions.torch !== undefined || processes.some(({ end, blind }) => end?.torch || blind.length > 0);
  if (!torch)
    return [
      'No process of the command imported torch: the tracer reads trainings of PyTorch. For another framework write an adapter, see docs/attach.md.',
    ];
  const reasons = blindSentences(ledger);
  // What else the run lacks, it may lack because of that: no advice is due but to put the script right.
  if (processes.some(({ end }) => end?.reason === 'exception') && !madeStep(ledger))
    return ['The script failed before its first optimiser step: what a whole step trains is not known.'];
  if (models.length === 0) {
    if (reasons.length > 0) return reasons;
    return processes.some(({ end }) => end?.modules_called)
      ? [
          'torch modules were called, but no language model was recognised among them. For a hand-written model add one line to the script, after the model: import lossproof_trace; lossproof_trace.watch(model, head=...), with the layer that predicts tokens. A reward model, a critic or a classifier is recognised by its head. That is a layer (torch.nn.Linear) inside the module that gets the token ids, with as many outputs as that module returns per row or per token. Call the two as one module, or check the loss with an adapter, see docs/attach.md.',
        ]
      : [
          'torch was imported, but no model was called. If the script calls layers of torch.nn one by one, put them into one torch.nn.Module that gets the token ids. If the model is compiled as a whole or runs in another process (vLLM, a server), it cannot be seen: train without torch.compile, in this process, for the traced steps.',
        ];
  }
  const done = madeStep(ledger);
  if (rows.length === 0)
    return done && reasons.length > 0
      ? reasons
      : [
          ...reasons,
          done
            ? 'The optimiser made a step, but no forward pass with gradients of a language model was seen before it: the model that is trained is not the one that was seen. Compiled modules and engines in other processes are not seen; train without them for the traced steps.'
            : 'A language model was called, but never with gradients: nothing was trained while the tracer looked. Trace the command that trains, and let it come to its first optimiser step.',
        ];
  if (!done)
    return [
      ...reasons,
      rows.some(({ reached }) => reached)
        ? 'The script ended before its first optimiser step: weights of a whole step are not known. Let it run longer, or lower gradient_accumulation_steps for the traced run.'
        : 'A language model was called with gradients, but no backward pass reached it and no optimiser step was made: nothing was trained while the tracer looked. Let the script come to its first optimiser step.',
    ];
  // Steps were made, and no gradient arrived anywhere: a fault of the script, unless there is a reason not to see it.
  return rows.some(({ reached }) => reached) ? [] : reasons;
}

function madeStep({ steps }: Ledger): boolean {
  return steps.some(({ ranks }) => ranks.some(({ done }) => done !== undefined));
}

/** What could not be seen, or, of `notes`, what was seen and not as it is without us: no reason for anything else. */
function blindSentences({ processes }: Ledger, notes = false): readonly string[] {
  const told = processes.flatMap(({ blind }) => blind.filter(({ what }) => (what === UNCOMPILED) === notes));
  return [...new Set(told.map(({ sentence }) => ended(sentence)))];
}

function calledOf({ pid, rank, world, name, node }: LedgerProcess): string {
  if (typeof name !== 'string') return `Process ${pid} (rank ${rank})`;
  const place = typeof node === 'string' ? ` on ${node}` : '';
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} (pid ${pid}${world > 1 ? `, rank ${rank}` : ''}${place})`;
}

function isOfModel({ models }: Ledger, rank: LedgerProcess['rank']): boolean {
  return models.some((model) => model.rank === rank);
}

const UNCOMPILED = 'uncompiled';
const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
/** With a full stop. */
const ended = (sentence: string): string => (/[.!?]$/.test(sentence) ? sentence : `${sentence}.`);
/** Of the gradient's norm. A target that has anything to do with it leaves less, whatever was added to the loss. */
const HARDLY_EXPLAINED = 0.5;
