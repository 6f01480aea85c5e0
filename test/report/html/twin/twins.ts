// Twins for tests of their page: one of each outcome, and one whose every text would act if it were let.
import type { TwinPage } from '../../../../src/report/html/twin/twin.ts';
import type { Picture, PictureRow } from '../../../../src/twin/picture.ts';
import type { TwinResult } from '../../../../src/twin/twin.ts';

const LAYERS = ['embed', 'layers.0.mlp', 'layers.0', 'layers.1.mlp', 'layers.1', 'head'];

const row = (name: string, ...cells: PictureRow['cells']): PictureRow => ({ name, whole: false, cells });

/** Two steps of modules; from `layers.1.mlp` on, the backward pass of step 0 is another. */
export function picture(names: readonly string[] = LAYERS, apart = 400): Picture {
  const from = names.indexOf('layers.1.mlp');
  return {
    steps: [0, 1],
    rows: [
      { name: 'weights of the tokens in the loss', whole: true, cells: [{ backward: 0 }, { backward: 0.4 }] },
      ...names.map((name, at) =>
        row(
          name,
          {
            start: 0,
            output: 0.3,
            backward: at <= from ? apart : 0.02,
            gradient: at <= from ? apart / 2 : 3,
          },
          { output: 40, backward: 7000 },
        ),
      ),
    ],
  };
}

const apart = (name: string) => ({
  name: `0 ${name}`,
  relative: 0.4,
  own: 0.4,
  norms: [0.3, 0.5] as const,
  factor: 1.3,
  rest: 0.2,
});

export const RESULTS: readonly TwinResult[] = [
  {
    name: 'repeat',
    sentence: 'nothing changes',
    outcome: { kind: 'agree', steps: 2, units: 0, picture: picture(LAYERS, 0) },
  },
  {
    name: 'checkpointing',
    sentence: 'gradient checkpointing on',
    outcome: {
      kind: 'parts',
      picture: picture(),
      difference: {
        what: 'gradients',
        step: 0,
        tensors: [apart('layers.0.mlp.weight'), apart('layers.1.mlp.weight')],
        of: 12,
        explained: 1e-6,
        begins: '0 layers.1.mlp.weight',
        backward: { kind: 'module', module: 'layers.1.mlp' },
      },
    },
  },
  {
    name: 'ranks',
    sentence: 'two processes',
    outcome: {
      kind: 'untold',
      why: 'with the change the script failed (exit code 1): no torchrun',
      lines: ['Traceback', 'no torchrun'],
    },
  },
];

export const twinOf = (results: readonly TwinResult[] = RESULTS, more: Partial<TwinPage> = {}): TwinPage => ({
  results,
  command: 'python train.py',
  steps: 2,
  folder: '.lossproof/twin/now',
  textOf: String,
  notes: [],
  ...more,
});

/** Each text of it is `text`: names of modules and tensors, the command, what a script wrote. */
export function hostileTwin(text: string): TwinPage {
  const [agree, parts, untold] = RESULTS;
  if (agree === undefined || parts?.outcome.kind !== 'parts' || untold === undefined)
    throw new Error('no results');
  const { difference } = parts.outcome;
  const names = [text, `${text}.mlp`, 'layers.1.mlp', ...LAYERS];
  return twinOf(
    [
      agree,
      {
        ...parts,
        outcome: {
          kind: 'parts',
          picture: picture(names),
          difference: {
            ...difference,
            tensors: [apart(text)],
            backward: { kind: 'module', module: text },
          } as never,
        },
      },
      { ...untold, outcome: { kind: 'untold', why: text, lines: [text, text] } },
    ],
    { command: text, folder: text, notes: [text], textOf: () => text },
  );
}
