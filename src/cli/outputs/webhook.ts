// The verdict to a chat: `--webhook URL` posts one message when a run has ended. The address is a secret: no message names more
// of it than the host.
import { bound } from '../../bounds.ts';
import type { Run } from '../../report/runs.ts';
import { type Context, type Problem, whyOf } from '../context.ts';

export interface WebhookOptions {
  /** As typed. */
  readonly webhook?: string;
}

/** Why no message can be sent there. An empty address, as a job has it without its secrets, is none. */
export function webhookProblem({ webhook = '' }: WebhookOptions): Problem | undefined {
  if (webhook === '' || (/^https?:/i.test(webhook) && URL.canParse(webhook))) return undefined;
  return { problem: '--webhook needs an address, as in --webhook "$SLACK_WEBHOOK"' };
}

/** What does not arrive is said, and changes no exit code: the verdict is about the trainer, not about the chat. */
export async function tellWebhook(
  runs: readonly Run[],
  { webhook }: WebhookOptions,
  context: Context,
): Promise<void> {
  if (webhook === undefined) return;
  const why = webhook === '' ? 'the address is empty' : await whyNotTaken(new URL(webhook), runs);
  if (why !== undefined) context.err.write(`lossproof: --webhook: no message was sent, ${why}\n`);
}

// --- helpers ---

const CHAT_PATIENCE = bound({
  wall: 10_000,
  of: '`--webhook`: an answer to the message',
  over: 'a sentence says that no message was sent; the exit code stays',
});

async function whyNotTaken(address: URL, runs: readonly Run[]): Promise<string | undefined> {
  const { messageJson } = await import('../../report/machine/message.ts');
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: messageJson(runs),
      signal: AbortSignal.timeout(CHAT_PATIENCE),
    });
    return answer.ok ? undefined : `${address.host} answered ${answer.status} ${answer.statusText}`.trim();
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return `${address.host} cannot be reached: ${whyOf(cause)}`;
  }
}
