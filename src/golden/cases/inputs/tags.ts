// Tagged blocks of a completion, by the tags that the trainer declares.
import type { Capability, TagName } from '../../../protocol/message.ts';

export const tagOf = ({ tags }: Capability, name: TagName): string => tags?.[name] ?? name;

export function block(has: Capability, name: TagName, text: string): string {
  const tag = tagOf(has, name);
  return `<${tag}>\n${text}\n</${tag}>`;
}
