// `mcp`: lossproof as a server of the Model Context Protocol, for coding agents. It lives as long as its client: the end of its
// input ends every command that it has started.
import { PassThrough, Writable } from 'node:stream';
import type { Command } from 'commander';
import { type Context, refuse } from '../context.ts';
import { HOLDS, INTERRUPTED } from '../exit.ts';
import { tell, type Words } from '../help/words.ts';
import type { Invocation } from '../options.ts';

export function addMcp(program: Command, { context, finish }: Invocation): void {
  tell(program.command('mcp'), WORDS)
    .summary('serve check, trace, view and more to a coding agent')
    .description('serve check, trace, view, explain and replay to a coding agent (MCP, over stdio)')
    .action(async () => finish(await mcp(context)));
}

const WORDS: Words = {
  examples: [{ command: 'claude mcp add lossproof -- npx lossproof mcp', does: 'add it to Claude Code' }],
  notes: [
    'Other agents: docs/agents.md. Each tool runs the command of the same name in the folder in which the server was started. It starts only the command that the call names.',
  ],
  exit: { 0: 'the client is gone', 2: 'there is no input', 130: 'interrupted' },
};

async function mcp(context: Context): Promise<number> {
  const input = context.input?.();
  const { self } = context;
  if (input === undefined || self === undefined)
    return refuse(context, { problem: 'mcp reads requests from its standard input' });
  // Somebody has typed it.
  if (context.ask !== undefined)
    context.err.write('lossproof: waiting for an MCP client on standard input; Ctrl-C ends it\n');
  const { serve } = await import('./server.ts');
  const requests = new PassThrough();
  const answers = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      context.out.write(text, 'document');
      done();
    },
  });
  const serving = serve(requests, answers, { cwd: context.cwd, self });
  const code = await new Promise<number>((resolve) => {
    const over = (): void => resolve(HOLDS);
    context.onInterrupt(() => resolve(INTERRUPTED));
    context.onTerminate?.(() => resolve(INTERRUPTED));
    context.onOutputLost?.(over);
    input.on('readable', () => {
      for (let chunk = input.read(); chunk !== null; chunk = input.read()) requests.write(chunk);
    });
    for (const event of ['end', 'close'] as const) input.on(event, over);
    input.on('error', over);
    // A message beyond the SDK's bound closes its side.
    requests.on('close', over);
  });
  await serving.close();
  input.destroy();
  return code;
}
