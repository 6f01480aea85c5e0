// The verdict as a chat takes it: Slack's incoming webhooks, and those of Mattermost, Rocket.Chat, Google Chat and Discord (/slack).
// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
import { complaintsOf, sentenceOf } from '../complaints.ts';
import { againFor } from '../failure/reproduce.ts';
import { type Run, runNames } from '../runs.ts';
import { runLine } from '../summary.ts';
import { clipped, harmless } from '../text/visible.ts';
import { LOOKS } from '../verdict.ts';

/** JSON `{"text": ...}`: the final line of each run, the first failures with their sentences, and how to see one again. */
export function messageJson(runs: readonly Run[]): string {
  const names = runNames(runs);
  const parts = runs.slice(0, MOST_RUNS).map((run, at) => messageOf(run, names[at] ?? ''));
  const left = runs.length - parts.length;
  return JSON.stringify({ text: [...parts, ...(left === 0 ? [] : [`and ${left} more runs`])].join('\n\n') });
}

// --- helpers ---

/** A message that must be unfolded is not read. */
const MOST_RUNS = 5;
const MOST_SHOWN = 3;
const MOST_SENTENCE = 300;
const MOST_NAME = 80;

function messageOf(run: Run, name: string): string {
  const complaints = complaintsOf(run);
  const shown = complaints.slice(0, MOST_SHOWN);
  const [again] = shown.flatMap(({ result }) => againFor(run, result) ?? []);
  return [
    `*lossproof* ${text(name, MOST_NAME)}: ${text(runLine(run), MOST_SENTENCE)}`,
    ...shown.map(
      ({ result }) =>
        `${LOOKS[result.verdict].glyph} *${text(result.id, MOST_NAME)}* ${text(sentenceOf(result), MOST_SENTENCE)}`,
    ),
    ...(complaints.length > shown.length ? [`and ${complaints.length - shown.length} more`] : []),
    ...(again === undefined ? [] : [`\`${text(again, MOST_SENTENCE)}\``]),
  ].join('\n');
}

/** The three characters that mean something in a message, as Slack asks for them; `<!channel>` in a trainer's name wakes nobody. */
function text(words: string, most: number): string {
  return clipped(harmless(words), most)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
