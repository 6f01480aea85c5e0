// What the arguments of a known trainer say that it does. Only what is certain is declared: classes of TRL and transformers
// themselves, in versions whose sources were read; a subclass of the script's own may do anything.
import type { Semantics } from '../../vocabulary.ts';
import type { Ledger, Settings } from '../ledger.ts';
import type { SettingsRecord } from '../records/records.ts';
import { type Declare, type Declared, isOff, numberOf, type Values } from './declare.ts';
import { GRPO, RLOO } from './online.ts';

export interface Said {
  /** --semantics; wins over what arguments say. */
  readonly semantics?: Semantics | undefined;
  readonly trainOn?: Settings['trainOn'];
  readonly frozen?: Settings['frozen'];
}

/**
 * Of several trainers of one script only what all of them say is declared.
 * @param records of all processes
 */
export function settingsOf(
  records: readonly SettingsRecord[],
  versions: Ledger['versions'],
  said: Said = {},
): Settings {
  const known = records.filter(isKnown);
  const trainers = new Set(records.map((record) => (isKnown(record) ? record.trainer : undefined)));
  const declared = known.length === records.length && wereRead(versions) ? known.map(declaredBy) : [];
  const agreed = declared.length === 0 ? {} : declared.map(({ semantics }) => semantics).reduce(inBoth);
  const from = Object.keys(agreed).length === 0 ? [] : declared.map(({ from }) => from);
  const { semantics = {}, trainOn, frozen = [] } = said;
  const overridden = Object.keys(semantics);
  return {
    from: [...new Set(from), ...(overridden.length > 0 ? [`--semantics ${overridden.join(', ')}`] : [])],
    semantics: { ...agreed, ...semantics },
    trainer: trainers.size === 1 ? [...trainers][0] : undefined,
    values: known.length === 0 ? {} : known.map(({ values }) => values).reduce(inBoth),
    trainOn,
    ...(frozen.length === 0 ? {} : { frozen }),
  };
}

// --- helpers ---

const LIBRARIES: readonly unknown[] = ['trl', 'transformers', undefined, null];
const KNOWN = new Set(['Trainer', 'SFTTrainer', 'DPOTrainer', 'GRPOTrainer', 'RLOOTrainer']);

function isKnown({ trainer, library }: SettingsRecord): boolean {
  return KNOWN.has(trainer) && LIBRARIES.includes(library);
}

/** Major versions of what was read: TRL 1.13 and transformers 5.18. Another one may mean other things by the same names. */
const READ: Readonly<Record<string, string>> = { trl: '1', transformers: '5' };

function wereRead(versions: Ledger['versions']): boolean {
  return Object.entries(READ).every(([name, major]) => {
    const version = versions[name];
    return version === undefined || version.split('.')[0] === major;
  });
}

const DECLARE: Readonly<Record<string, Declare>> = {
  SFTTrainer: SFT,
  DPOTrainer: DPO,
  GRPOTrainer: GRPO,
  RLOOTrainer: RLOO,
};

function declaredBy(record: SettingsRecord): { readonly semantics: Semantics; readonly from: string } {
  // A plain Trainer leaves the loss to the model, which may be anybody's.
  const declared = DECLARE[record.trainer]?.(record.values);
  const because = (declared?.because ?? [])
    .filter((name) => record.values[name] !== undefined)
    .map((name) => `${name}=${pythonOf(record.values[name])}`);
  return { semantics: declared?.semantics ?? {}, from: `${record.class}(${because.join(', ')})` };
}

/** As a Python script spells it. */
function pythonOf(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

/** Entries that are equal in both. */
function inBoth<T extends object>(a: T, b: T): T {
  const other = new Map(Object.entries(b));
  const same = Object.entries(a).filter(
    ([name, value]) => other.has(name) && JSON.stringify(other.get(name)) === JSON.stringify(value),
  );
  return Object.fromEntries(same) as T;
}

/** TRL 1.13, sft_trainer.py; the division by the tokens of all micro-batches and ranks is transformers 5, trainer.py. */
function SFT(values: Values): Declared {
  const even =
    (values.loss_type === 'nll' || values.loss_type === 'chunked_nll') &&
    values.use_liger_kernel !== true &&
    !(Number(values.label_smoothing_factor) > 0);
  const acrossRanks = values.average_tokens_across_devices === true;
  // completion_only_loss without a value is decided by the data set's columns.
  const target =
    values.assistant_only_loss === true
      ? 'assistant'
      : values.assistant_only_loss === false && values.completion_only_loss === false
        ? 'all'
        : undefined;
  return {
    semantics: {
      ...(target === undefined ? {} : { sft_target: target }),
      ...(values.loss_type === 'dft' ? { sft_objective: 'dft' as const } : {}),
      ...(even ? { sft_aggregation: 'token-mean' as const } : {}),
      ...(even && acrossRanks ? { loss_normalization: 'global' as const } : {}),
      temperature_in_scoring: false,
    },
    because: [
      ...(target === undefined ? [] : ['assistant_only_loss', 'completion_only_loss']),
      ...(even || values.loss_type === 'dft' ? ['loss_type'] : []),
      ...(even && acrossRanks ? ['average_tokens_across_devices'] : []),
    ],
  };
}

/** The values of DPOConfig.loss_type that are objectives of ours: TRL 1.13, dpo_trainer.py. */
const PREFERENCE: Readonly<Record<string, Semantics['preference_objective']>> = {
  sigmoid: 'dpo',
  hinge: 'hinge',
  ipo: 'ipo',
};

function DPO(values: Values): Declared {
  const { loss_type: types, beta } = values;
  const [type] = Array.isArray(types) ? types : [types];
  const plain =
    (!Array.isArray(types) || types.length === 1) &&
    isOff(values.use_weighting) &&
    isOff(values.ld_alpha) &&
    (values.f_divergence_type === undefined || values.f_divergence_type === 'reverse_kl');
  const objective = plain && typeof type === 'string' ? PREFERENCE[type] : undefined;
  if (objective === undefined) return { semantics: { temperature_in_scoring: false }, because: [] };
  const smoothing = objective === 'dpo' ? numberOf(values.label_smoothing) : undefined;
  return {
    semantics: {
      temperature_in_scoring: false,
      preference_objective: objective,
      ...(typeof beta === 'number' ? { preference_beta: beta } : {}),
      ...(smoothing === undefined ? {} : { preference_label_smoothing: smoothing }),
    },
    because: ['loss_type', 'beta', ...(smoothing === undefined ? [] : ['label_smoothing'])],
  };
}
