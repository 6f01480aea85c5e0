// Python trainers out of one process that forks them (resident.py): for tests that start hundreds and ask each a case or
// two. They go through the same requests and the same decoder as any process; what is missing is its recovery from crashes.
import { execa } from 'execa';
import { pythonEnvironment } from '../scripts/python.ts';
import type { Args, Ok, Op, Outcome, Trainer } from '../src/index.ts';
import { decodeAnswer, decodeHello } from '../src/protocol/decode.ts';
import { isAnswerLine, parseAnswer, wireArgs, wireOf } from '../src/protocol/json.ts';
import { lineSplitter } from '../src/protocol/lines.ts';
import { HELLO_ID, helloLine, requestBody, requestLine } from '../src/protocol/request.ts';
import { outcomeOf } from '../src/trainer/outcome.ts';

export interface Resident {
  /** `python3 -m module ...args`, once it has said hello. */
  open(module: string, ...args: readonly string[]): Promise<Trainer>;
  stop(): Promise<void>;
}

type Said = Readonly<Record<string, unknown>>;

export function startResident(): Resident {
  const child = execa('python3', ['-m', 'resident'], {
    env: pythonEnvironment(),
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
    buffer: false,
    reject: false,
  });
  /** Answers come in the order of the requests, whichever trainer they are for. */
  const waiting: ((answer: string) => void)[] = [];
  const splitter = lineSplitter();
  child.stdout.on('data', (chunk: Buffer) => {
    for (const line of splitter.push(chunk)) {
      const text = typeof line === 'string' ? line : '';
      waiting.shift()?.(text.slice(text.indexOf(' ') + 1));
    }
  });
  child.stdout.on('end', () => {
    for (const settle of waiting.splice(0)) settle('');
  });
  let started = 0;

  function send(line: string): void {
    child.stdin.write(`${line}\n`);
  }

  async function ask(number: number, line: string): Promise<Said> {
    const answer = await new Promise<string>((settle) => {
      waiting.push(settle);
      send(`${number} ${line}`);
    });
    const parsed = parseAnswer(answer);
    if ('complaint' in parsed || !isAnswerLine(parsed.ok))
      throw new Error(`trainer ${number} answered ${answer === '' ? 'nothing, it died' : answer}`);
    return parsed.ok;
  }

  async function open(...command: readonly [string, ...string[]]): Promise<Trainer> {
    let number = 0;
    const start = async (): Promise<Said> => {
      if (number > 0) send(`-${number}`);
      started += 1;
      number = started;
      send(`+${number} ${JSON.stringify(command)}`);
      return ask(number, helloLine);
    };
    const decoded = decodeHello((await start()).ok);
    if ('complaint' in decoded) throw new Error(`${command.join(' ')}: ${decoded.complaint}`);
    const hello = decoded.ok;
    const wire = wireOf(hello);
    return {
      hello,
      async ask<O extends Op>(op: O, args: Args<O>): Promise<Outcome<Ok<O>>> {
        if (hello.ops[op] === undefined)
          return { kind: 'skip', why: `the trainer does not have the op ${op}` };
        const answer = await ask(number, requestLine(HELLO_ID + 1, requestBody(op, args, wire)));
        return outcomeOf(op, decodeAnswer(op, answer, args, wire.layoutOf(op)), () =>
          wireArgs(op, args, wire),
        );
      },
      line: (op, args) => requestLine(HELLO_ID + 1, requestBody(op, args, wire)),
      helloLine: () => helloLine,
      restart: async () => void (await start()),
      async stop() {
        if (number > 0) send(`-${number}`);
        number = 0;
      },
      stderrTail: () => '',
    };
  }

  return {
    open,
    async stop() {
      child.stdin.end();
      await child;
    },
  };
}
