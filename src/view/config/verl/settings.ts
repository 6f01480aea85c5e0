// Configurations of verl: hydra's YAML of its SFT and RL trainers, or a script that starts one with overrides. Source:
// verl/trainer/config, verl/trainer/sft_trainer.py, verl/utils/dataset and verl/experimental/agent_loop of the version in
// known/verl.json.
import { extname } from 'node:path';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf, flattened } from '../file.ts';
import { keyFaults, nearest, textOf, written } from '../keys.ts';
import { type Known, knownOf } from '../known.ts';
import type { Host, Plan, Reader } from '../plan.ts';
import { isComputed } from '../shell.ts';
import { openVerl } from './open.ts';
import { KWARGS, type VerlSettings, type Way } from './rows.ts';

export const verl: Reader = { known: 'verl', plan };

// --- helpers ---

const COMMANDS = {
  sft: { own: '`verl.trainer.sft_trainer`', title: 'verl.trainer.sft_trainer', model: 'model' },
  rl: { own: '`verl.trainer.main_ppo`', title: 'verl.trainer.main_ppo', model: 'actor_rollout_ref.model' },
} as const satisfies Record<Way, unknown>;

function plan(given: ConfigFile, host: Host): Plan | Problem {
  const known = knownOf('verl');
  const config = { ...given, values: flattened(given.values) };
  const { values } = config;
  const other = values['--config-name'];
  if (other !== undefined && !OWN_NAMES.has(textOf(other)))
    return {
      problem: `${config.name} starts verl with --config-name ${textOf(other)}, a file of settings that view does not read as well: write its data settings as overrides`,
    };
  const way = wayOf(config, known);
  if (way === undefined)
    return {
      problem: `it is not clear whether ${config.name} is of verl's SFT or RL trainer: nothing of model or actor_rollout_ref is set in it`,
    };
  const keys = known.parts[way] ?? {};
  const value = (key: string): unknown => (Object.hasOwn(values, key) ? values[key] : keys[key]?.default);
  const { title, model } = COMMANDS[way];
  const cls = value('data.custom_cls.path');
  if (cls !== undefined && cls !== null)
    return {
      problem: `data.custom_cls.path names a data set class of your own (${written(cls)}), and view runs no code of yours: look at its rows with \`lossproof trace\``,
    };
  const files = filesOf(value('data.train_files'), host);
  if ('problem' in files) return files;
  const template = value(`${model}.custom_chat_template`);
  const extra = kwargsOf(values);
  if ('problem' in extra) return extra;
  const folder = value(`${model}.tokenizer_path`) ?? value(`${model}.path`);
  const computed = [...READ, `${model}.path`].find((key) => isComputed(textOf(values[key] ?? '')));
  if (computed !== undefined && !(host.dataTyped && computed === 'data.train_files'))
    return {
      problem: `${computed} is ${written(values[computed])}, which only the shell that starts the training knows: write the value itself`,
    };
  const faults = [
    ...dataKeyFaults(config, known, way),
    ...combinations(config, { way, value, template }),
    ...files.faults(config, way),
  ];
  const read = [...READ, `${model}.path`, `${model}.tokenizer_path`]
    .filter((key) => values[key] !== undefined && values[key] !== null)
    .map((key) => `${key} ${written(values[key])}`);
  const length = way === 'sft' ? 'data.max_length' : 'data.max_prompt_length';
  if (values[length] === undefined) read.push(`${length} ${value(length)} (verl's default)`);
  return {
    title: `${known.trainer} ${known.version} (${title})`,
    data: files.names,
    ...(typeof folder === 'string' ? { tokenizer: folder } : {}),
    ...(typeof template === 'string' && !isPath(template) ? { template: { source: template } } : {}),
    read,
    faults,
    open: (seen) => openVerl(config, { way, value, extra: extra.values }, seen, host),
  };
}

/** Its own files of settings. */
const OWN_NAMES = new Set([
  'ppo_trainer',
  'ppo_trainer.yaml',
  'ppo_megatron_trainer',
  'ppo_megatron_trainer.yaml',
  'sft_trainer_engine',
  'sft_trainer_engine.yaml',
]);

const READ = [
  'data.train_files',
  'data.messages_key',
  'data.prompt_key',
  'data.tools_key',
  'data.max_length',
  'data.max_prompt_length',
  'data.max_response_length',
  'data.truncation',
  'data.pad_mode',
  'data.filter_overlong_prompts',
  'data.train_max_samples',
  'data.enable_thinking_default',
  'data.ignore_input_ids_mismatch',
];

function wayOf({ values, command }: ConfigFile, { parts }: Known): Way | undefined {
  if (command !== undefined) return command.word.includes('sft') ? 'sft' : 'rl';
  const keys = Object.keys(values);
  if (keys.some((key) => key.startsWith('actor_rollout_ref.'))) return 'rl';
  if (keys.some((key) => key.startsWith('model.'))) return 'sft';
  const of = (way: Way): number =>
    keys.filter(
      (key) => Object.hasOwn(parts[way] ?? {}, key) || Object.hasOwn(parts[`${way}-more`] ?? {}, key),
    ).length;
  return of('sft') === of('rl') ? undefined : of('sft') > of('rl') ? 'sft' : 'rl';
}

/** Keys of `data`: what else there is has no part in rows. */
function dataKeyFaults(config: ConfigFile, known: Known, way: Way): SettingFault[] {
  const { command, values } = config;
  const own = known.parts[way] ?? {};
  const more = known.parts[`${way}-more`] ?? {};
  const another = way === 'sft' ? 'rl' : 'sft';
  const faults: SettingFault[] = [];
  const judged: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    if (!key.startsWith('data.') || command?.marks.get(key) === '~') continue;
    const parent = Object.keys(own).find(
      (each) => own[each]?.kinds.includes('dict') && key.startsWith(`${each}.`),
    );
    const bare = command !== undefined && !command.marks.has(key);
    if (parent !== undefined || Object.hasOwn(more, key)) {
      if (bare && command?.values[key] !== undefined)
        faults.push(
          faultOf(
            config,
            key,
            `Hydra stops: verl's configuration has no ${key}, so it must be added with a plus: +${key}=...`,
          ),
        );
      continue;
    }
    judged[key] = value;
  }
  const others = Object.keys(known.parts[another] ?? {}).filter((key) => !Object.hasOwn(own, key));
  return [
    ...faults,
    ...keyFaults(
      { ...config, values: judged, twice: config.twice.filter((key) => key.startsWith('data')) },
      { ...known, keys: own, others: { [another]: others } },
      {
        unknown:
          command === undefined
            ? 'nothing reads it, so it does nothing'
            : 'hydra stops, and with a plus in front it does nothing',
        text: 'kept',
        twice: command === undefined ? 'OmegaConf refuses the file' : 'hydra takes the last',
        command: { own: COMMANDS[way].own, other: (name) => COMMANDS[name as Way].own },
      },
    ),
  ];
}

function combinations(
  config: ConfigFile,
  {
    way,
    value,
    template,
  }: { readonly way: Way; readonly value: VerlSettings['value']; readonly template: unknown },
): SettingFault[] {
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, key, sentence, level));
  };
  const { model } = COMMANDS[way];
  if (typeof template === 'string' && isPath(template))
    say(
      `${model}.custom_chat_template`,
      `verl takes the text itself for the chat template, and ${template} is a path: each row is this path.`,
    );
  const of = (key: string, choices: readonly string[]): void => {
    const own = value(key);
    if (choices.includes(textOf(own))) return;
    const near = nearest(textOf(own), choices);
    say(
      key,
      `${written(own)} is none of ${choices.join(', ')}: verl stops.${near === undefined ? '' : ` Is ${near} meant?`}`,
    );
  };
  if (way === 'sft') {
    of('data.truncation', ['error', 'left', 'right']);
    of('data.pad_mode', ['right', 'no_padding']);
    if (value('data.truncation') === 'left' && value('data.pad_mode') === 'no_padding')
      say(
        'data.truncation',
        'left does nothing: with pad_mode no_padding, verl cuts the end of a row, as with right.',
      );
  } else if (
    typeof value('data.tool_config_path') === 'string' &&
    !isComputed(textOf(value('data.tool_config_path')))
  )
    say('data.tool_config_path', 'The tools that it names are not in the prompts shown here.', 'note');
  const most = value('data.train_max_samples');
  const shuffled = way === 'rl' ? value('data.shuffle') !== false : config.values['data.shuffle'] === true;
  if (typeof most === 'number' && most > 0 && shuffled)
    say('data.train_max_samples', 'verl draws these rows at random: all rows are shown.', 'note');
  return faults;
}

const isPath = (text: string): boolean =>
  !/[{\n]/.test(text) && /\.(?:jinja2?|j2|txt|json)$|^[\w./~-]*\/[\w./-]*$/.test(text);

interface Files {
  readonly names: readonly string[];
  readonly faults: (config: ConfigFile, way: Way) => readonly SettingFault[];
}

const GO_ON = 'write the rows to a file, and name it: lossproof view rows.parquet --config FILE';

function filesOf(given: unknown, host: Host): Files | Problem {
  if (host.dataTyped) return { names: [], faults: () => [] };
  // A list that stands in quotes has stayed a text.
  const list = Array.isArray(given) ? given : [given];
  const names = list.filter((each): each is string => typeof each === 'string' && each !== '');
  if (names.length !== list.length || names.length === 0)
    return { problem: `data.train_files ${written(given)} names no files; ${GO_ON}` };
  const remote = names.find((name) => /^\w+:\/\//.test(name));
  if (remote !== undefined)
    return { problem: `data.train_files ${remote} is remote, and view downloads nothing; ${GO_ON}` };
  const missing = names.find((name) => !isComputed(name) && host.kindOf(name) !== 'file');
  if (missing !== undefined)
    return {
      problem: `data.train_files: there is no file ${missing}, from where view was started; ${GO_ON}`,
    };
  return {
    names,
    faults: (config, way) => {
      const endings = way === 'sft' ? ['.parquet'] : ['.parquet', '.json', '.jsonl'];
      const other = names.find((name) => !endings.includes(extname(name)));
      return other === undefined || (way === 'sft' && !['.json', '.jsonl'].includes(extname(other)))
        ? []
        : [
            faultOf(
              config,
              'data.train_files',
              `verl stops: ${way === 'sft' ? 'its SFT trainer reads Parquet alone' : `it reads ${endings.join(', ')}`}, and this is ${other}.`,
            ),
          ];
    },
  };
}

/** Arguments of apply_chat_template itself, and what verl passes. */
const ARGUMENTS =
  /^(?:tokenize|add_generation_prompt|return_dict|return_tensors|return_assistant_tokens_mask|continue_final_message|tools|documents|chat_template|conversation|messages|padding|truncation|max_length|tokenizer_kwargs)$/;

function kwargsOf(values: ConfigFile['values']): { readonly values: Record<string, unknown> } | Problem {
  const made: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    if (!key.startsWith(`${KWARGS}.`)) continue;
    const name = key.slice(KWARGS.length + 1);
    if (name.includes('.'))
      return { problem: `${key} is a mapping within a mapping, which view does not pass to a template` };
    if (ARGUMENTS.test(name))
      return { problem: `${key} changes how the template is called, which view does not` };
    made[name] = value;
  }
  return { values: made };
}
