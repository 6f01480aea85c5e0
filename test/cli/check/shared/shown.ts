// A check as it stays on the screen, of a trainer that is right in every way, except as its argument says.
import { properties } from '../../../../properties/index.ts';
import { makeWorld, type World, type WorldOptions } from '../../world.ts';
import { normal, remaining, shownCodes } from '../screen.ts';

/** Right in every way, except as its first argument says. */
const ADAPTER = `
import os, signal, sys, time
import lossproof

mode = sys.argv[1] if len(sys.argv) > 1 else ""

def pad(rows, fill, left):
    width = max(map(len, rows))
    return [[fill] * (width - len(row)) + row if left else row + [fill] * (width - len(row)) for row in rows]

def is_marked(completion_ids):
    return len(completion_ids) > 1 and len(completion_ids[1]) > 2

@lossproof.op
def mask(prompt_ids, completion_ids, pad_token_id):
    if is_marked(completion_ids):
        if mode == "raise":
            return {"input_ids": prompt_ids[7]}
        if mode == "crash":
            print("CUDA error: device-side assert triggered", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if mode == "hang":
            time.sleep(60)
    if mode == "slow":
        time.sleep(0.012)
    early = 1 if mode in ("early", "slow") else 0
    ones = lambda rows, value: [[value] * len(row) for row in rows]
    trained = [[0] * (len(p) - early) + [1] * early for p in prompt_ids]
    join = lambda a, b, fill: [x + y for x, y in zip(pad(a, fill, True), pad(b, fill, False))]
    return {
        "input_ids": join(prompt_ids, completion_ids, pad_token_id),
        "attention_mask": join(ones(prompt_ids, 1), ones(completion_ids, 1), 0),
        "completion_mask": join(trained, ones(completion_ids, 1), 0),
    }

lossproof.serve(name="my-trainer", version="0.4")
`;

const MASK = properties.filter(({ stage }) => stage === 'mask' || stage === 'kl');
export const TWO = ['--only', 'mask/prompt-is-never-trained,mask/padding-is-never-trained'];

export interface Shown {
  readonly world: World;
  readonly text: string;
}

/** `lossproof ...words -- python3 adapter.py MODE` at seed 7, as it stays on the screen. */
export async function shown(
  words: readonly string[],
  mode: string,
  options: WorldOptions & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<Shown> {
  const world = makeWorld(MASK, options);
  world.write('adapter.py', ADAPTER);
  for (const [name, content] of Object.entries(options.files ?? {})) world.write(name, content);
  const argv = [
    'check',
    '--seed',
    '7',
    ...words,
    '--',
    'python3',
    'adapter.py',
    ...(mode === '' ? [] : [mode]),
  ];
  const code = await world.run(...argv);
  const typed = ['npx', 'lossproof', ...argv].join(' ');
  const columns = options.isTty ? (options.columns ?? 100) : Number.POSITIVE_INFINITY;
  const text = remaining(normal(world.both(), world.folder), columns);
  return { world, text: shownCodes(`$ ${typed}\n${text}exit code ${code}\n`) };
}

export const blessed = (name: string): string => `screens/${name}.txt`;
