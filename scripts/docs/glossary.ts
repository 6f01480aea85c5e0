// The pictures of docs/glossary.md: one mask of one batch in the five conventions that trainers use for it. What stands
// where is asked of src/protocol/layout.ts, by sending it a track that numbers the tokens; nothing here shifts an index.
import { encodeTrack } from '../../src/protocol/layout.ts';
import { blockBatch, expectedMask, locateRow, rolesOf } from '../../src/reference/index.ts';
import { escapeText } from '../../src/report/html/page/markup.ts';
import { shorten } from '../../src/report/text/visible.ts';
import { familyFolder, loadTokenizer } from '../../src/tokenizers/load.ts';
import type { Layout, Matrix, Role } from '../../src/vocabulary.ts';
import { palette } from './palette.ts';

export interface Convention {
  /** Of the file, and of its heading in the glossary. */
  readonly name: string;
  readonly title: string;
  /** What the adapter declares for it. */
  readonly layout: Layout;
  /** The row's array in this convention, from a token-aligned track. `undefined`: a cell that speaks of nothing. */
  readonly array: (track: readonly number[]) => readonly (number | undefined)[];
  /** The column of the row below which index 0 is drawn: where it lies in the tensor that it is cut from. */
  readonly from: number;
  /** Cells of that tensor in front, which are cut off. */
  readonly cut?: number;
}

/** Two prompts and two completions, none as long as the other. */
const EXAMPLE = [
  { prompt: 'Hello there', completion: 'Hi' },
  { prompt: '1 + 1', completion: '2' },
] as const;
const FAMILY = 'qwen';
/** Every font has it. */
const SPACE = '·';

interface Row {
  readonly texts: readonly string[];
  readonly roles: readonly Role[];
  readonly mask: readonly number[];
}

const { rows, promptWidth, width } = example();

function example(): { rows: readonly Row[]; promptWidth: number; width: number } {
  const loaded = loadTokenizer(familyFolder(FAMILY));
  if ('problem' in loaded) throw new Error(loaded.problem);
  const { tokenizer } = loaded;
  const [pad, stop] = [tokenizer.padTokenId, tokenizer.eosTokenId];
  if (pad === undefined || stop === undefined) throw new Error(`${FAMILY} has no pad or no eos token`);
  const prompts = EXAMPLE.map(({ prompt }) => tokenizer.encode(prompt));
  const completions = EXAMPLE.map(({ completion }) => [...tokenizer.encode(completion), stop]);
  const block = blockBatch(prompts, completions, pad);
  const stops = new Set([stop]);
  const made = block.sequences.map((ids, at) => {
    const [prompt = [], completion = []] = [prompts[at], completions[at]];
    const plan = locateRow(ids, block.attention_mask[at], prompt, completion, pad, stops);
    if (plan === undefined) throw new Error('the example is not in its own row');
    return {
      texts: ids.map((id) => tokenizer.decode([id]).replaceAll(' ', SPACE)),
      roles: rolesOf(plan, ids.length, stops, completion),
      mask: expectedMask(plan, ids.length, { stopInMask: true, stops, completion }),
    };
  });
  return { rows: made, promptWidth: block.promptWidth, width: block.sequences[0]?.length ?? 0 };
}

function encoded(track: readonly number[], layout: Layout): readonly number[] {
  const one: Matrix = [track];
  return encodeTrack(one, promptWidth, layout)[0] ?? [];
}

const TOKEN_ROW: Layout = { alignment: 'token', span: 'row' };
const PREDICTOR_ROW: Layout = { alignment: 'predictor', span: 'row' };
const COMPLETION: Layout = { alignment: 'token', span: 'completion' };
const TAIL: Layout = { alignment: 'predictor', span: 'completion' };

export const conventions: readonly Convention[] = [
  {
    name: 'token-aligned',
    title: 'Token-aligned, over the row',
    layout: TOKEN_ROW,
    array: (track) => encoded(track, TOKEN_ROW),
    from: 0,
  },
  {
    name: 'response-only',
    title: 'Response only',
    layout: COMPLETION,
    array: (track) => encoded(track, COMPLETION),
    from: promptWidth,
  },
  {
    name: 'one-shorter',
    title: 'One column shorter than the row',
    layout: PREDICTOR_ROW,
    array: (track) => encoded(track, PREDICTOR_ROW),
    from: 0,
  },
  {
    name: 'predictor-aligned',
    title: 'Predictor-aligned, as wide as the row',
    layout: PREDICTOR_ROW,
    array: (track) => [...encoded(track, PREDICTOR_ROW), undefined],
    from: 0,
  },
  {
    name: 'tail-slice',
    title: 'Tail slice',
    layout: TAIL,
    array: (track) => encoded(track, TAIL),
    from: promptWidth - 1,
    cut: promptWidth - 1,
  },
];

/** The rows of the example, for a test and for whoever wants to draw them otherwise. */
export const exampleRows: readonly Row[] = rows;

/** File name in docs/pictures to SVG. */
export function pictures(): ReadonlyMap<string, string> {
  return new Map(conventions.map((convention) => [`mask-${convention.name}.svg`, picture(convention)]));
}

const CELL = 92;
const LEFT = 84;
const TOP = 16;
const TOKEN_HEIGHT = 46;
const GAP = 38;
const ARRAY_HEIGHT = 28;
const INDEX_HEIGHT = 22;
const BETWEEN = 22;
const BLOCK = TOKEN_HEIGHT + GAP + ARRAY_HEIGHT + INDEX_HEIGHT + BETWEEN;
/** Columns of text that fit a cell. */
const MOST_TEXT = 11;

const USED = [
  '--ground',
  '--ink',
  '--ink-2',
  '--line',
  '--blue',
  '--blue-soft',
  '--band-prompt',
  '--band-completion',
  '--band-padding',
  '--band-stop',
  '--mono',
];

const STYLE = `
rect { stroke: var(--line); }
.ground { fill: var(--ground); stroke: none; }
.prompt { fill: var(--band-prompt); } .completion { fill: var(--band-completion); }
.stop { fill: var(--band-stop); } .padding { fill: var(--band-padding); }
text { font: 13px var(--mono); fill: var(--ink); text-anchor: middle; }
.small { font-size: 11px; fill: var(--ink-2); } .side { text-anchor: end; }
.off { fill: var(--ground); } .on { fill: var(--blue-soft); stroke: var(--blue); stroke-width: 2; }
.one { font-weight: 700; fill: var(--blue); }
.gone { fill: none; stroke-dasharray: 3 3; }
line { stroke: var(--line); } .trained { stroke: var(--blue); stroke-width: 2; }
`;

function picture(convention: Convention): string {
  const [wide, high] = [LEFT + width * CELL + TOP, TOP + rows.length * BLOCK];
  const body = rows.map((row, at) => rowPicture(row, at, TOP + at * BLOCK, convention)).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" role="img" aria-labelledby="t d">
<title id="t">${escapeText(convention.title)}</title>
<desc id="d">${escapeText(description(convention))}</desc>
<style>${palette(USED)}${STYLE}</style>
<rect class="ground" width="${wide}" height="${high}"/>
${body}
</svg>
`;
}

/** What the picture says, for who does not see it. */
export function description(convention: Convention): string {
  const said = rows.map((row, at) => {
    const array = convention.array(row.mask).map((value) => value ?? '-');
    return `Row ${at}: tokens ${row.texts.join(' ')}; mask ${array.join(' ')}.`;
  });
  return said.join(' ');
}

function rowPicture(row: Row, at: number, y: number, convention: Convention): string {
  const { from, cut = 0 } = convention;
  const arrayY = y + TOKEN_HEIGHT + GAP;
  const tokens = row.texts.map((text, column) => {
    const x = LEFT + column * CELL;
    const role = row.roles[column] ?? 'padding';
    return `<rect class="${role}" x="${x}" y="${y}" width="${CELL}" height="${TOKEN_HEIGHT}"/><text x="${x + CELL / 2}" y="${y + 20}">${escapeText(shorten(text, MOST_TEXT))}</text><text class="small" x="${x + CELL / 2}" y="${y + 37}">${role}</text>`;
  });
  const values = convention.array(row.mask);
  // Numbered tokens through the same conversion: the array then says of each cell which token it speaks of.
  const spoken = convention.array(row.mask.map((_, column) => column));
  const gone = Array.from({ length: cut }, (_, index) => {
    const x = LEFT + (from - cut + index) * CELL;
    return `<rect class="gone" x="${x}" y="${arrayY}" width="${CELL}" height="${ARRAY_HEIGHT}"/>`;
  });
  const cells = values.map((value, index) => {
    const x = LEFT + (from + index) * CELL;
    const [middle, on] = [x + CELL / 2, value === 1];
    const token = spoken[index];
    const line =
      token === undefined
        ? ''
        : `<line class="${on ? 'trained' : ''}" x1="${middle}" y1="${arrayY}" x2="${LEFT + token * CELL + CELL / 2}" y2="${y + TOKEN_HEIGHT}"/>`;
    return `${line}<rect class="${on ? 'on' : 'off'}" x="${x}" y="${arrayY}" width="${CELL}" height="${ARRAY_HEIGHT}"/><text class="${on ? 'one' : ''}" x="${middle}" y="${arrayY + 19}">${value ?? '–'}</text><text class="small" x="${middle}" y="${arrayY + ARRAY_HEIGHT + 15}">${index}</text>`;
  });
  const side = (text: string, textY: number, small = ''): string =>
    `<text class="side ${small}" x="${LEFT - 10}" y="${textY}">${text}</text>`;
  return [
    side(`row ${at}`, y + 20),
    side('mask', arrayY + 19),
    side('index', arrayY + ARRAY_HEIGHT + 15, 'small'),
    ...tokens,
    ...gone,
    // What is outlined goes over what is not.
    ...cells.filter((_, index) => values[index] !== 1),
    ...cells.filter((_, index) => values[index] === 1),
  ].join('\n');
}
