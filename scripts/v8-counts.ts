// How often V8 ran each block of code that is loaded from now on: its inspector's precise coverage of this very process.
import { Session } from 'node:inspector';

export interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

export interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

/** Begins to count, calls or only whether a block ran; returns what takes the counts and sets them back to 0. */
export function countBlocks({ calls }: { readonly calls: boolean }): () => readonly Script[] {
  const session = new Session();
  session.connect();
  // The inspector of its own process answers before it returns.
  const post = (method: string, parameters: object = {}): unknown => {
    let answer: unknown;
    session.post(method, parameters, (error, result) => {
      if (error !== null) throw error;
      answer = result;
    });
    return answer;
  };
  post('Profiler.enable');
  post('Profiler.startPreciseCoverage', { callCount: calls, detailed: true });
  return () => (post('Profiler.takePreciseCoverage') as { readonly result: readonly Script[] }).result;
}
