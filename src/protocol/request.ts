// Requests as lines. Ids are given when a line is sent, so a request is encoded once however often it is sent.

import { VERSION } from '../version.ts';
import { encodeArgs, type Wire } from './json.ts';
import type { Args, Op } from './message.ts';
import { PROTOCOL } from './message.ts';

/** What the harness calls itself in hello. */
export const HARNESS = `lossproof ${VERSION}`;
export const HELLO_ID = 1;

/** A request without its id: `"op":"mask","args":{...}}`. */
export function requestBody<O extends Op>(op: O, args: Args<O>, wire: Wire): string {
  return `"op":"${op}","args":${encodeArgs(op, args, wire)}}`;
}

export const helloBody = `"op":"hello","args":${JSON.stringify({ protocol: PROTOCOL, harness: HARNESS })}}`;

/** One JSON line without the newline. */
export function requestLine(id: number, body: string): string {
  return `{"id":${id},${body}`;
}

/** The line that opens every conversation, to put before saved request lines. */
export const helloLine = requestLine(HELLO_ID, helloBody);
