// Chat templates from a small grammar, the six families' shapes among them. Only constructs that render alike in
// Jinja2 and in the JavaScript engine. An answer always ends with eos_token, whatever the family prints, so that a
// generated template fits the tokenizer of any trainer.
import fc from 'fast-check';

export interface TemplateSource {
  readonly source: string;
  /** What the template does, as labels. */
  readonly traits: readonly string[];
}

/** How turns are marked: text before and after each role's content. An assistant's turn ends with eos_token. */
export interface Markers {
  readonly system: readonly [open: string, close: string];
  readonly user: readonly [open: string, close: string];
  readonly assistant: string;
}

/** A template as choices. */
export interface TemplateShape {
  readonly markers: Markers;
  readonly bos: boolean;
  readonly trim: boolean;
  /** Written after the eos_token of an answer. */
  readonly afterAnswer: '' | '\n';
  /** `default turn`: a turn of its own, and one that the template invents where there is none. */
  readonly system:
    | 'own turn'
    | 'default turn'
    | 'merged'
    | 'merged into the last user turn'
    | 'dropped'
    | 'refused';
  readonly history: 'kept' | 'thoughts dropped';
  /** `thought`: the generation prompt opens a thought that no training row has: not prefix-preserving. */
  readonly prompt: 'header' | 'thought';
  /** Roles that do not alternate are refused. */
  readonly strict: boolean;
}

/** Two thirds are random, one third has the shape of a released family. Shrinks towards plain ChatML. */
export function templateSource(): fc.Arbitrary<TemplateSource> {
  return fc.oneof(
    { arbitrary: templateShape().map((shape) => templateOf(shape, [])), weight: 2 },
    {
      arbitrary: fc
        .constantFrom(...Object.entries(FAMILY_SHAPES))
        .map(([name, shape]) => templateOf(shape, [`shape of ${name}`])),
      weight: 1,
    },
  );
}

export function templateShape(): fc.Arbitrary<TemplateShape> {
  return fc.record({
    markers: fc.constantFrom(...MARKERS),
    bos: fc.boolean(),
    trim: fc.boolean(),
    afterAnswer: fc.constantFrom('\n', ''),
    system: weighted<TemplateShape['system']>({
      'own turn': 4,
      merged: 2,
      'default turn': 2,
      dropped: 1,
      'merged into the last user turn': 1,
      refused: 1,
    }),
    history: weighted<TemplateShape['history']>({ kept: 3, 'thoughts dropped': 1 }),
    prompt: weighted<TemplateShape['prompt']>({ header: 9, thought: 1 }),
    strict: fc.boolean(),
  });
}

/** The template of a shape, with its traits. */
export function templateOf(shape: TemplateShape, more: readonly string[]): TemplateSource {
  const traits = [
    shape.bos ? 'bos in the template' : 'no bos in the template',
    shape.trim ? 'content trimmed' : 'content verbatim',
    shape.afterAnswer === '' ? 'nothing after the stop token' : 'newline after the stop token',
    `system ${shape.system}`,
    `history ${shape.history}`,
    ...(shape.prompt === 'thought' ? ['generation prompt opens a thought'] : []),
    ...(shape.markers.assistant === '' ? ['empty generation prompt'] : []),
    ...(shape.strict ? ['strict roles'] : []),
    ...more,
  ];
  return { source: sourceOf(shape), traits };
}

// --- helpers ---

/** The first choice is the one that shrinking ends at. */
function weighted<Choice extends string>(weights: Readonly<Record<Choice, number>>): fc.Arbitrary<Choice> {
  const choices = Object.entries(weights) as [Choice, number][];
  return fc.oneof(...choices.map(([choice, weight]) => ({ arbitrary: fc.constant(choice), weight })));
}

const CHATML: Markers = {
  system: ['<|im_start|>system\n', '<|im_end|>\n'],
  user: ['<|im_start|>user\n', '<|im_end|>\n'],
  assistant: '<|im_start|>assistant\n',
};
const HEADERS: Markers = {
  system: ['<|start_header_id|>system<|end_header_id|>\n\n', '<|eot_id|>'],
  user: ['<|start_header_id|>user<|end_header_id|>\n\n', '<|eot_id|>'],
  assistant: '<|start_header_id|>assistant<|end_header_id|>\n\n',
};
const TURNS: Markers = {
  system: ['<start_of_turn>system\n', '<end_of_turn>\n'],
  user: ['<start_of_turn>user\n', '<end_of_turn>\n'],
  assistant: '<start_of_turn>model\n',
};
const INSTRUCTIONS: Markers = { system: ['', '\n\n'], user: ['[INST]', '[/INST]'], assistant: '' };
const BARS: Markers = { system: ['', ''], user: ['<｜User｜>', ''], assistant: '<｜Assistant｜>' };
const TAGS: Markers = {
  system: ['<|system|>\n', '<|end|>\n'],
  user: ['<|user|>\n', '<|end|>\n'],
  assistant: '<|assistant|>\n',
};
// No special tokens at all, as base models are often fine-tuned.
const HEADINGS: Markers = {
  system: ['### System:\n', '\n\n'],
  user: ['### User:\n', '\n\n'],
  assistant: '### Assistant:\n',
};
const MARKERS = [CHATML, HEADERS, TURNS, INSTRUCTIONS, BARS, TAGS, HEADINGS];

const PLAIN: Omit<TemplateShape, 'markers'> = {
  bos: true,
  trim: false,
  afterAnswer: '',
  system: 'own turn',
  history: 'kept',
  prompt: 'header',
  strict: false,
};

/** The arrangement of each family's released template; only the token that ends an answer is the tokenizer's own. */
export const FAMILY_SHAPES: Readonly<Record<string, TemplateShape>> = {
  llama3: { ...PLAIN, markers: HEADERS, trim: true },
  qwen: { ...PLAIN, markers: CHATML, bos: false, afterAnswer: '\n', system: 'default turn' },
  gemma: { ...PLAIN, markers: TURNS, trim: true, afterAnswer: '\n', system: 'merged', strict: true },
  mistral: { ...PLAIN, markers: INSTRUCTIONS, system: 'merged into the last user turn', strict: true },
  deepseek: { ...PLAIN, markers: BARS, history: 'thoughts dropped' },
  phi: { ...PLAIN, markers: TAGS, bos: false, afterAnswer: '\n' },
};

const ALTERNATION = 'Conversation roles must alternate user/assistant/user/assistant/...';

function sourceOf(shape: TemplateShape): string {
  const { markers } = shape;
  const content = (message: string): string => `${message}['content']${shape.trim ? ' | trim' : ''}`;
  const merged = shape.system === 'merged' || shape.system === 'merged into the last user turn';
  const systemTurn = (text: string): string =>
    `{{- ${quoted(markers.system[0])} + (${text}) + ${quoted(markers.system[1])} }}`;
  const system: Readonly<Record<TemplateShape['system'], string[]>> = {
    'own turn': [systemTurn(content('messages[0]'))],
    'default turn': [systemTurn(content('messages[0]'))],
    merged: [`{%- set preamble = (${content('messages[0]')}) + '\\n\\n' %}`],
    'merged into the last user turn': [`{%- set preamble = (${content('messages[0]')}) + '\\n\\n' %}`],
    dropped: [],
    refused: ["{{- raise_exception('System role not supported') }}"],
  };
  // The last user turn is the last or the last but one.
  const carrier = shape.system === 'merged' ? 'loop.first' : 'loop.index0 >= turns | length - 2';
  return lines(
    shape.bos && '{{- bos_token }}',
    '{%- set turns = messages %}',
    merged && "{%- set preamble = '' %}",
    "{%- if messages[0]['role'] == 'system' %}",
    '{%- set turns = messages[1:] %}',
    ...system[shape.system],
    shape.system === 'default turn' && '{%- else %}',
    shape.system === 'default turn' && systemTurn(quoted('You are a helpful assistant.')),
    '{%- endif %}',
    '{%- for message in turns %}',
    shape.strict &&
      `{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception(${quoted(ALTERNATION)}) }}{%- endif %}`,
    `{%- set content = ${content('message')} %}`,
    shape.history === 'thoughts dropped' &&
      "{%- if message['role'] == 'assistant' and not loop.last and '</think>' in content %}{%- set content = content.split('</think>')[-1] %}{%- endif %}",
    "{%- if message['role'] == 'user' %}",
    `{{- ${quoted(markers.user[0])} }}`,
    merged && `{%- if ${carrier} %}{{- preamble }}{%- endif %}`,
    `{{- content + ${quoted(markers.user[1])} }}`,
    '{%- else %}',
    `{{- ${quoted(markers.assistant)} + content }}{{- eos_token }}{{- ${quoted(shape.afterAnswer)} }}`,
    '{%- endif %}',
    '{%- endfor %}',
    `{%- if add_generation_prompt %}{{- ${quoted(markers.assistant + (shape.prompt === 'thought' ? '<think>\n' : ''))} }}{%- endif %}`,
  );
}

function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join('\n');
}

/** A Jinja string literal. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}
