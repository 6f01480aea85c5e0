// The tools as an MCP server. @modelcontextprotocol/server: three packages and 14 MB on disk.
// @modelcontextprotocol/sdk 1.32 would be 98 packages and 19 MB, most of them (express, hono, jose) for transports other than stdio.
// Imported by `lossproof mcp` only, when it runs.
import type { Readable, Writable } from 'node:stream';
import {
  fromJsonSchema,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  McpServer,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { VERSION } from '../../version.ts';
import { whyOf } from '../context.ts';
import { type Answer, answerOf } from './answer.ts';
import { type Progress, type Ran, runTool } from './run.ts';
import { complaintOf, type Given, schemaOf, TOOLS, type Tool } from './tools.ts';

export interface Serving {
  /** Ends what is running; resolves when its processes are gone. */
  close(): Promise<void>;
}

export interface Place {
  readonly cwd: string;
  /** How this program is started again. */
  readonly self: readonly string[];
}

const INSTRUCTIONS =
  'lossproof finds bugs in trainers of language models. Start with view (a data set), trace (a training script) or check (a trainer with an adapter). Repair the first finding that has no explainedBy, then replay its case. No verdict is not a pass. Do not hide a finding with known failures, own_formulas or a lower level: only the author of the trainer knows what is meant.';

export function serve(input: Readable, output: Writable, place: Place): Serving {
  const running = new Set<Promise<Ran>>();
  const handle = serveStdio(
    () => {
      const server = new McpServer(
        { name: 'lossproof', version: VERSION },
        { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
      );
      for (const tool of TOOLS) register(server, tool, place, running);
      return server;
    },
    { transport: new StdioServerTransport(input, output) },
  );
  return {
    async close() {
      await handle.close();
      await Promise.allSettled(running);
    },
  };
}

/** The SDK's own complaints do not name the argument: complaintOf looks at each call instead. */
const UNJUDGED: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (data) => ({ valid: true, data: data as T, errorMessage: undefined });
  },
};

function register(server: McpServer, tool: Tool, place: Place, running: Set<Promise<Ran>>): void {
  const { name, description, reads } = tool;
  const inputSchema = fromJsonSchema<Given>(schemaOf(tool), UNJUDGED);
  // Whatever else a client knows of a tool, it should ask before one that runs a command.
  const annotations = reads
    ? { readOnlyHint: true, openWorldHint: false }
    : { readOnlyHint: false, destructiveHint: true, openWorldHint: true };
  server.registerTool(name, { description, inputSchema, annotations }, async (given, { mcpReq }) => {
    const complaint = complaintOf(tool, given);
    if (complaint !== undefined) return resultOf({ text: complaint });
    const progressToken = mcpReq._meta?.progressToken;
    const tell = (progress: Progress): void => {
      if (progressToken === undefined) return;
      const params = { progressToken, ...progress };
      // A client that has gone ends the call by the signal.
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    };
    const run = runTool(tool, given, place, { signal: mcpReq.signal, tell });
    running.add(run);
    try {
      return resultOf(answerOf(tool, await run));
    } catch (error) {
      return resultOf({ text: `${name} could not be run: ${whyOf(error)}` });
    } finally {
      running.delete(run);
    }
  });
}

function resultOf({ text, document }: Answer) {
  const content = [{ type: 'text' as const, text }];
  return document === undefined
    ? { content, isError: true }
    : { content, structuredContent: { ...document } };
}
