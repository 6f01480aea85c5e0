// `view --config`: a trainer's own configuration file opened, with what it names, and which settings do nothing.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readJson, readText } from '../../outside/file.ts';
import { loadTokenizer } from '../../tokenizers/load.ts';
import { checkTemplate } from '../../tokenizers/template.ts';
import type { Tokenizer } from '../../tokenizers/tokenizer.ts';
import type { SettingFault } from '../../view/config/fault.ts';
import { configFile } from '../../view/config/file.ts';
import { differenceFaults, ofInstalled } from '../../view/config/installed.ts';
import { knownOf } from '../../view/config/known.ts';
import type { After, Host, Plan, Reader, Seen } from '../../view/config/plan.ts';
import { readerOf } from '../../view/config/recognise.ts';
import type { Making } from '../../view/making.ts';
import { ownRows } from '../../view/own/own.ts';
import type { Entry } from '../../view/read.ts';
import type { ViewOptions } from '../../view/row.ts';
import { type Context, isProblem, type Problem } from '../context.ts';
import { ASKED, askTrainer, type Told } from './own.ts';
import { fileSource, type Source } from './source.ts';
import { templateOf, type WorldOptions, worldOf } from './world.ts';

export interface Configured {
  readonly source: Source;
  readonly world: Making;
  /** What was read from the file, and by which rules. */
  readonly read: readonly string[];
  readonly faults: readonly SettingFault[];
  readonly after: () => After;
}

export interface ConfigurationOptions extends WorldOptions {
  /** The installed trainer is not asked. */
  readonly byRules?: boolean;
  readonly python?: string;
}

/** What is typed wins over what the file says. */
export async function openConfiguration(
  file: string,
  data: string | undefined,
  options: ConfigurationOptions,
  context: Context,
): Promise<Configured | Problem> {
  const text = readText(resolve(context.cwd, file));
  if ('complaint' in text)
    return {
      problem: /ENOENT/.test(text.complaint)
        ? `there is no file ${file}`
        : `${file} cannot be read: ${text.complaint}`,
    };
  const config = configFile(file, text.ok);
  if ('problem' in config) return config;
  const reader = readerOf(config);
  if ('problem' in reader) return reader;
  const plan = reader.plan(config, hostOf(context, data !== undefined));
  if ('problem' in plan) return { problem: `${plan.problem}${hintOf(file, plan.problem, context)}` };
  if (options.template !== undefined && plan.refuses?.template !== undefined)
    return { problem: `--template cannot be used here: ${plan.refuses.template}` };
  const source = await sourceOf(plan, data, context);
  if (isProblem(source)) return source;
  const world = await planned(plan, options, context);
  if (isProblem(world)) return world;
  const { tokenizer, cloned } = world;
  const columns = await columnsOf(source, Math.max(1, data === undefined ? plan.data.length : 1));
  if (isProblem(columns)) return columns;
  const files = data === undefined ? plan.data.length : 1;
  const asked = await installed({ reader, plan, config: file, source, files, options }, context);
  if (isProblem(asked)) return asked;
  const { told, how } = asked;
  const opened = plan.open({
    ...columns,
    tokenizer,
    templateTyped: options.template !== undefined,
    allOwn: told !== undefined && !told.more,
    ...(world.view.writer === undefined ? {} : { template: world.view.writer.template }),
    ...(cloned === undefined ? {} : { cloned }),
    ...(options.trainOn === undefined ? {} : { trainOn: options.trainOn }),
    ...(options.maxLength === undefined ? {} : { maxLength: options.maxLength }),
  });
  if ('problem' in opened) return opened;
  const typed = [
    ...(data === undefined ? [] : [`data ${data}`]),
    ...(options.tokenizer === undefined ? [] : [`--tokenizer ${options.tokenizer}`]),
    ...(options.template === undefined ? [] : [`--template ${options.template}`]),
    ...(options.trainOn === undefined ? [] : [`--train-on ${options.trainOn}`]),
    ...(options.maxLength === undefined ? [] : [`--max-length ${options.maxLength}`]),
  ];
  const own = told === undefined ? undefined : ownRows(told.rows);
  const faults = [...plan.faults, ...opened.faults];
  return {
    source,
    world: { ...world.view, ...opened.settings, ...(own === undefined ? {} : { own }) },
    read: [
      how,
      `read from ${plan.from === undefined ? '' : `${plan.from} and `}${config.name}: ${plan.read.join(', ')}${typed.length === 0 ? '' : `; typed, which wins: ${typed.join(', ')}`}`,
    ],
    faults: told === undefined ? faults : ofInstalled(faults, reader.known, told),
    after() {
      const after = opened.after();
      if (told === undefined || own === undefined) return after;
      const [differences, compared] = [own.differences(), own.compared()];
      const unlike =
        opened.unruled === true
          ? []
          : differenceFaults(config, reader.known, {
              read: plan.compared,
              told,
              differences,
              compared,
            });
      // Rows that the rules do not make were made by the trainer.
      const { unsupported, faults: rules } = after;
      const beyond = unsupported === undefined || !told.more ? {} : { unsupported };
      return { ...beyond, faults: [...rules, ...unlike] };
    },
  };
}

// --- helpers ---

interface Asking {
  readonly reader: Reader;
  readonly plan: Plan;
  readonly config: string;
  readonly source: Source;
  readonly files: number;
  readonly options: ConfigurationOptions;
}

/** The trainer's own rows where it is installed, and a sentence that says whose rows they are. */
async function installed(
  { reader, plan, config, source, files, options }: Asking,
  context: Context,
): Promise<{ readonly told?: Told; readonly how: string } | Problem> {
  const rules = `the documented rules of ${plan.title}`;
  const typed = TYPED.find(({ of }) => options[of] !== undefined)?.option;
  if (options.byRules === true || typed !== undefined || !ASKED.has(reader.known)) {
    const why =
      options.byRules === true ? ' (--by-rules)' : typed === undefined ? '' : `: it does not know ${typed}`;
    return { how: `rows by ${rules}; the trainer itself was not asked${why}` };
  }
  const { known } = reader;
  const { trainer } = knownOf(known);
  const told = await askTrainer({ known, trainer, config, source, files, python: options.python }, context);
  if (isProblem(told)) return told;
  if ('because' in told) return { how: `rows by ${rules}: ${told.because}` };
  const some = told.more ? `the first ${told.rows.size.toLocaleString('en')} rows` : 'rows';
  return {
    told,
    how: `${some} by ${trainer} ${told.version} itself (${told.python})${told.more ? `, the others by ${rules}` : ''}`,
  };
}

/** Options that win over the configuration, of which the trainer knows nothing. */
const TYPED = [
  { of: 'tokenizer', option: '--tokenizer' },
  { of: 'template', option: '--template' },
  { of: 'trainOn', option: '--train-on' },
  { of: 'maxLength', option: '--max-length' },
] as const;

/** `~/` is the home of whoever starts the training. */
const homed = (path: string): string => (path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);

function hostOf({ cwd }: Context, dataTyped: boolean): Host {
  return {
    dataTyped,
    kindOf(path) {
      const status = statSync(resolve(cwd, homed(path)), { throwIfNoEntry: false });
      return status?.isFile() === true ? 'file' : status?.isDirectory() === true ? 'folder' : undefined;
    },
    namesIn: (path) => readdirSync(resolve(cwd, homed(path))).sort(),
    readText: (path) => readText(resolve(cwd, homed(path))),
    readJson: (path) => readJson(resolve(cwd, homed(path))),
  };
}

/** Trainers look for paths where they are started; a file in another folder is often the reason that one is missing. */
function hintOf(file: string, problem: string, { cwd }: Context): string {
  const folder = dirname(resolve(cwd, file));
  if (folder === cwd || !/ no file|cannot be read|is not a folder/.test(problem)) return '';
  return `. Paths are taken from the folder in which the training is started, here ${cwd}`;
}

/** The files of the configuration one after the other, or what was typed in their place. */
async function sourceOf(plan: Plan, data: string | undefined, context: Context): Promise<Source | Problem> {
  const files = data === undefined ? plan.data.map(homed) : [data];
  if (files.length === 0)
    return {
      problem:
        'the configuration names no data set; name a file of rows: lossproof view rows.jsonl --config FILE',
    };
  const sources: Source[] = [];
  for (const file of files) {
    const source = await fileSource(file, context, { command: 'view' });
    if (isProblem(source)) return source;
    sources.push(source);
  }
  const [only] = sources;
  if (only !== undefined && sources.length === 1) return only;
  return {
    name: sources.map(({ name }) => name).join(' + '),
    each: async (look) => {
      let before = 0;
      for (const [from, source] of sources.entries()) {
        let last = 0;
        const unread = await source.each((entry) => {
          last = entry.number;
          look({ ...entry, number: before + entry.number, from });
        });
        if (unread !== undefined) return unread;
        before += last;
      }
      return undefined;
    },
  };
}

async function columnsOf(source: Source, files: number): Promise<Pick<Seen, 'columns' | 'first'> | Problem> {
  const columns = Array.from({ length: files }, () => new Set<string>());
  let first: unknown;
  const unread = await source.each(({ value, from = 0 }: Entry) => {
    first ??= value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const key of Object.keys(value)) columns[from]?.add(key);
  });
  return unread ?? { columns, first };
}

interface Planned {
  readonly view: ViewOptions;
  readonly tokenizer: Tokenizer;
  readonly cloned?: Tokenizer;
}

async function planned(plan: Plan, options: WorldOptions, context: Context): Promise<Planned | Problem> {
  const named = options.tokenizer ?? (plan.tokenizer === undefined ? undefined : homed(plan.tokenizer));
  if (named === undefined)
    return {
      problem: 'the configuration names no model: --tokenizer DIR names a folder with tokenizer.json',
    };
  if (options.tokenizer === undefined && !existsSync(resolve(context.cwd, named)))
    return {
      problem: `the model ${named} is not a folder here, and view downloads nothing: tokenizer.save_pretrained(DIR) writes the tokenizer, and --tokenizer DIR names it`,
    };
  const { template } = plan;
  let cloned: Tokenizer | undefined;
  let source: string | undefined;
  if (options.template === undefined && template !== undefined) {
    if ('source' in template) {
      const { problem } = checkTemplate(template.source);
      if (problem !== undefined) return { problem: `the chat template of the configuration: ${problem}` };
      source = template.source;
    } else if ('file' in template) {
      const read = templateOf(template.file, context);
      if (typeof read !== 'string') return read;
      source = read;
    } else {
      const loaded = loadTokenizer(resolve(context.cwd, template.folder));
      if ('problem' in loaded) return loaded;
      cloned = loaded.tokenizer;
      source = cloned.chatTemplate;
      if (source === undefined)
        return { problem: `chat_template_path ${template.folder} has no chat template` };
    }
  }
  const view = await worldOf({ ...options, tokenizer: named }, context, source);
  if (isProblem(view)) return view;
  const { tokenizer } = view;
  if (tokenizer === undefined) return { problem: `there is no tokenizer in ${named}` };
  const added =
    cloned === undefined
      ? undefined
      : [...cloned.specialIds].find((id) => tokenizer.tokenId(cloned.token(id) ?? '') === undefined);
  if (added !== undefined)
    return {
      problem: `chat_template_path adds tokens to the tokenizer, ${cloned?.token(added)} among them; view does not make such rows`,
    };
  return { view, tokenizer, ...(cloned === undefined ? {} : { cloned }) };
}
