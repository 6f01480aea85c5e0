// Where a chat template comes from. Newer libraries write chat_template.jinja and nothing else; older ones put it
// into tokenizer_config.json, as one string or as a list of named templates.

/** The default template's source with normalised line ends; the .jinja file wins. Undefined: there is none. */
export function sourceOfTemplate(jinja: string | undefined, config: unknown): string | undefined {
  const source = jinja ?? inConfig(config);
  return source === undefined ? undefined : normalizeLineEnds(source);
}

/** The longest of real models has 20,000. */
const LONGEST_TEMPLATE = 100_000;
/** On end: the engine's expressions take the square of it. */
const MOST_WHITE_SPACE = 2_000;

/** Why a source is not even compiled; undefined where it is. */
export function tooLong(source: string): string | undefined {
  if (source.length > LONGEST_TEMPLATE)
    return `it has ${source.length} characters, and no template has more than ${LONGEST_TEMPLATE}`;
  for (const [run] of source.matchAll(/\s+/g))
    if (run.length > MOST_WHITE_SPACE)
      return `it has ${run.length} characters of white space on end; ${MOST_WHITE_SPACE} are read at most`;
  return undefined;
}

/** Jinja2 reads every line end as \n; the JavaScript engine would render the \r. */
export function normalizeLineEnds(source: string): string {
  return source.replace(/\r\n?/g, '\n');
}

function inConfig(config: unknown): string | undefined {
  if (typeof config === 'string') return config;
  if (!Array.isArray(config)) return undefined;
  const named = config.filter(
    (entry): entry is { name: string; template: string } =>
      typeof entry === 'object' &&
      entry !== null &&
      typeof entry.name === 'string' &&
      typeof entry.template === 'string',
  );
  return (named.find((entry) => entry.name === 'default') ?? (named.length === 1 ? named[0] : undefined))
    ?.template;
}
