// Configurations of torchtune: YAML of one of its recipes, or a script that starts one with overrides. Source: torchtune/datasets,
// torchtune/data and torchtune/models of the version in known/torchtune.json.
import { dirname } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { keyFaults, nearest, textOf, written } from '../keys.ts';
import { type Known, knownOf } from '../known.ts';
import type { Host, Plan, Reader } from '../plan.ts';
import { isComputed } from '../shell.ts';
import { type NamedSet, setsOf } from './datasets.ts';
import { type Launched, launched } from './launch.ts';
import { openTune } from './open.ts';
import type { PromptTemplate, TokenizerKind, TuneTokenizer } from './tokens.ts';

export const torchtune: Reader = { known: 'torchtune', plan };

// --- helpers ---

function plan(given: ConfigFile, host: Host): Plan | Problem {
  const known = knownOf('torchtune');
  const read = launched(given, host);
  if ('problem' in read) return read;
  const { config } = read;
  const sets = setsOf(config, known, host);
  if ('problem' in sets) return sets;
  const tokenizer = tokenizerOf(config, known, host);
  if ('problem' in tokenizer) return tokenizer;
  const faults = [
    ...topFaults(read, known),
    ...sets.faults,
    ...tokenizer.faults,
    ...together(config, sets.named, tokenizer.settings),
  ];
  return {
    title: `${known.trainer} ${known.version}`,
    data: sets.named.flatMap(({ files }) => files),
    tokenizer: tokenizer.folder,
    ...(given.command === undefined ? {} : { from: config.name }),
    refuses: { template: 'torchtune reads no chat template of the tokenizer' },
    read: [...sets.read, ...tokenizer.read],
    faults,
    open: (seen) => openTune(config, { sets: sets.named, tokenizer: tokenizer.settings }, seen),
  };
}

/** Keys at the top: recipes ask for those that they know, and never for another. */
function topFaults({ config, referred }: Launched, known: Known): SettingFault[] {
  const own = Object.keys(known.keys);
  const faults = config.twice.map((key) =>
    faultOf(config, key, 'The key is given more than once; OmegaConf refuses the file.'),
  );
  for (const key of Object.keys(config.values)) {
    if (own.includes(key) || referred.has(key)) continue;
    const place = PLACES.find(({ parts }) =>
      parts.some((part) => Object.hasOwn(known.parts[part] ?? {}, key)),
    );
    const near = nearest(key, own);
    if (place !== undefined)
      faults.push(
        faultOf(config, key, `It does nothing here: torchtune reads it as ${place.of}.${key} alone.`),
      );
    else
      faults.push(
        faultOf(
          config,
          key,
          `No recipe of torchtune ${known.version} reads this key, so it does nothing.${near === undefined ? '' : ` Is ${near} meant?`}`,
          // A recipe of the user's own may read it.
          near === undefined ? 'note' : 'fault',
        ),
      );
  }
  return faults;
}

/** Where a key belongs that is written at the top. */
const PLACES = [
  { of: 'tokenizer', parts: ['llama3_tokenizer', 'qwen2_5_tokenizer'] },
  {
    of: 'dataset',
    parts: [
      'chat_dataset',
      'instruct_dataset',
      'text_completion_dataset',
      'preference_dataset',
      'load_dataset',
    ],
  },
];

interface Read {
  readonly settings: TuneTokenizer;
  readonly folder: string;
  readonly read: readonly string[];
  readonly faults: readonly SettingFault[];
}

const KINDS: Readonly<Record<string, TokenizerKind>> = {
  'torchtune.models.llama3.llama3_tokenizer': 'llama3_tokenizer',
  'torchtune.models.qwen2.qwen2_tokenizer': 'qwen2_tokenizer',
  'torchtune.models.qwen2_5.qwen2_5_tokenizer': 'qwen2_5_tokenizer',
};
const TOKENIZER_READ = ['_component_', 'path', 'special_tokens_path', 'max_seq_len', 'prompt_template'];

function tokenizerOf(config: ConfigFile, known: Known, host: Host): Read | Problem {
  const given = config.values.tokenizer;
  if (!isJsonObject(given))
    return { problem: `${config.name} names no tokenizer, without which torchtune makes no rows` };
  const component = textOf(given._component_);
  const kind = Object.hasOwn(KINDS, component) ? KINDS[component] : undefined;
  if (kind === undefined)
    return {
      problem: `tokenizer._component_ ${component} is none whose rows view makes: it knows ${Object.keys(KINDS).join(', ')}. Look at its rows with \`lossproof trace\``,
    };
  const computed = TOKENIZER_READ.find((key) => isComputed(textOf(given[key] ?? '')));
  if (computed !== undefined)
    return {
      problem: `tokenizer.${computed} is ${written(given[computed])}, which only the run knows: write the value itself`,
    };
  const other = (['eos_token', 'bos_token', 'special_tokens'] as const).find(
    (key) => given[key] !== undefined && given[key] !== known.parts[kind]?.[key]?.default,
  );
  if (other !== undefined)
    return {
      problem: `tokenizer.${other} ${written(given[other])} changes the tokens around a row, which view does not`,
    };
  const limit = given.max_seq_len ?? undefined;
  if (limit !== undefined && (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 2))
    return { problem: `tokenizer.max_seq_len ${written(limit)} is not a length` };
  const specials = specialsOf(given, kind, known, host);
  if ('problem' in specials) return specials;
  const template = templateOf(given.prompt_template, known);
  if (template !== undefined && 'problem' in template) return template;
  const { path } = given;
  if (typeof path !== 'string')
    return {
      problem: `tokenizer.path is ${written(path ?? null)}: torchtune stops without the file of the vocabulary`,
    };
  return {
    settings: {
      kind,
      ...specials,
      ...(limit === undefined ? {} : { limit }),
      ...(template === undefined ? {} : { template }),
    },
    folder: folderOf(path, host),
    read: TOKENIZER_READ.filter((key) => given[key] !== undefined && given[key] !== null).map(
      (key) => `tokenizer.${key} ${written(given[key])}`,
    ),
    faults: [
      ...tokenizerKeyFaults(config, given, kind, known),
      ...templateFaults(config, kind, template),
      ...fileFaults(config, given, kind),
    ],
  };
}

/** tokenizer.json lies beside the file of the vocabulary, or above `original/`. */
function folderOf(path: string, host: Host): string {
  const own = dirname(path);
  return [own, dirname(own)].find((folder) => host.kindOf(`${folder}/tokenizer.json`) === 'file') ?? own;
}

function specialsOf(
  { special_tokens_path: file }: JsonObject,
  kind: TokenizerKind,
  known: Known,
  host: Host,
): Pick<TuneTokenizer, 'specials'> | Problem {
  if (file === undefined || file === null)
    return { specials: known.templates[kind] as Readonly<Record<string, number>> };
  const read = host.readJson(textOf(file));
  if ('complaint' in read)
    return { problem: `tokenizer.special_tokens_path ${textOf(file)} cannot be read: ${read.complaint}` };
  const added = isJsonObject(read.ok) ? read.ok.added_tokens : undefined;
  if (!Array.isArray(added))
    return {
      problem: `tokenizer.special_tokens_path ${textOf(file)} has no added_tokens, so torchtune stops`,
    };
  return {
    specials: Object.fromEntries(
      added.flatMap((each) =>
        isJsonObject(each) && typeof each.content === 'string' && typeof each.id === 'number'
          ? [[each.content, each.id] as const]
          : [],
      ),
    ),
  };
}

const CHATML = 'torchtune.data.ChatMLTemplate';

function templateOf(given: unknown, known: Known): PromptTemplate | Problem | undefined {
  if (given === undefined || given === null) return undefined;
  const own = typeof given === 'string' && /^torchtune\./.test(given) ? known.templates[given] : given;
  if (!isJsonObject(own))
    return {
      problem: `tokenizer.prompt_template ${written(given)} is code, and view runs none: it reads a mapping of roles to two texts, and ${Object.keys(
        known.templates,
      )
        .filter((each) => each.startsWith('torchtune.'))
        .join(', ')}`,
    };
  const tags: Record<string, readonly [string, string]> = {};
  for (const [role, pair] of Object.entries(own)) {
    if (!Array.isArray(pair) || pair.length < 2)
      return { problem: `tokenizer.prompt_template.${role} ${written(pair)} is not two texts` };
    const [before, after] = pair.map((each) => (typeof each === 'string' ? each : ''));
    tags[role] = [before ?? '', after ?? ''];
  }
  return { tags, chatml: given === CHATML };
}

function tokenizerKeyFaults(
  config: ConfigFile,
  given: JsonObject,
  kind: TokenizerKind,
  known: Known,
): SettingFault[] {
  const { _component_: _, ...judged } = given;
  const within = (keys: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(keys).map(([key, value]) => [`tokenizer.${key}`, value]));
  return keyFaults(
    { ...config, values: within(judged), twice: [] },
    { ...known, keys: within(known.parts[kind] ?? {}) as Known['keys'] },
    { unknown: `${kind} takes no such argument, so the run stops`, text: 'kept', twice: '' },
  );
}

/** The vocabulary in the files that torchtune reads, which are not those of transformers. */
function fileFaults(config: ConfigFile, given: JsonObject, kind: TokenizerKind): SettingFault[] {
  if (kind === 'llama3_tokenizer')
    return textOf(given.path).endsWith('.json')
      ? [
          faultOf(
            config,
            'tokenizer.path',
            'torchtune stops: it reads original/tokenizer.model, not a file of JSON.',
          ),
        ]
      : [];
  return typeof given.merges_file === 'string'
    ? []
    : [
        faultOf(
          config,
          'tokenizer.merges_file',
          `torchtune stops: ${kind} needs merges.txt, and it is not set.`,
        ),
      ];
}

const SPEAKERS = ['system', 'user', 'assistant', 'ipython'];

function templateFaults(
  config: ConfigFile,
  kind: TokenizerKind,
  template: PromptTemplate | undefined,
): SettingFault[] {
  const key = 'tokenizer.prompt_template';
  if (template?.chatml === true && kind !== 'llama3_tokenizer')
    return [faultOf(config, key, `torchtune stops: ${kind} writes the marks of ChatML itself.`)];
  return Object.keys(template?.tags ?? {}).flatMap((role) => {
    if (SPEAKERS.includes(role)) return [];
    const near = nearest(role, SPEAKERS);
    return [
      faultOf(
        config,
        `${key}.${role}`,
        `It does nothing: torchtune's roles are ${SPEAKERS.join(', ')}.${near === undefined ? '' : ` Is ${near} meant?`}`,
      ),
    ];
  });
}

/** What of the data sets depends on the tokenizer. */
function together(
  config: ConfigFile,
  sets: readonly NamedSet[],
  { kind, limit }: TuneTokenizer,
): SettingFault[] {
  const faults = sets.flatMap(({ set, packed }) =>
    packed && limit === undefined && set.stops === undefined
      ? [
          faultOf(
            config,
            `${set.part}.packed`,
            'torchtune stops: rows are packed up to tokenizer.max_seq_len, which is not set.',
          ),
        ]
      : [],
  );
  const chat = sets.some(({ set }) => set.kind !== 'text_completion_dataset');
  if (chat && limit !== undefined && kind !== 'llama3_tokenizer')
    faults.push(
      faultOf(
        config,
        'tokenizer.max_seq_len',
        'With it, torchtune leaves the last token of every row untrained, and with this tokenizer that is the stop token of the last answer.',
        'note',
      ),
    );
  return faults;
}
