import { type CommandLine, parseCommandLine } from '#base/command-line.ts';
import { AppError } from '#base/errors.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { readCluster } from '../status/cluster-reader.ts';
import { openClient } from '../status/connection.ts';
import { clusterOptions, statusLine } from '../status/options.ts';
import { rebootLine } from '../reboot/options.ts';
import { removeLine } from '../remove/options.ts';
import { rolloutCommandLines } from '../rollout/options.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import { sandboxLine } from '../sandbox/options.ts';
import { joinText, printable } from '../safe-text.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';

/** A shell waits for the candidates, and the user for the shell. */
const timeLimitMs = 2000;
const maxCandidates = 1000;

/**
 * Runs `wmco __complete hosts WORD...` or `wmco __complete faults TYPED` for the completion scripts: one candidate for
 * each line, none after an error.
 */
export async function completeProgram(
  words: readonly string[],
  terminal: LiveTerminal,
  faultNames: () => Promise<readonly string[]>,
): Promise<ExitCode> {
  const [what, ...rest] = words;
  const found =
    what === 'hosts'
      ? await hostCandidates(rest, terminal)
      : what === 'faults'
        ? faultCandidates(rest[0], await faultNames())
        : [];
  const lines = found.slice(0, maxCandidates).map(each => printable(`${each}\n`));
  terminal.out(joinText(lines, ''));
  return 0;
}

/** Accepts the flags of every command that has hosts as arguments. */
const hostsLine = {
  ...statusLine,
  flags: { ...removeLine.flags, ...rebootLine.flags, ...rolloutCommandLines.pin.flags, ...statusLine.flags },
} satisfies CommandLine;

/** Names of the cluster are foreign text: others could be flags or commands for the shell. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

export async function hostCandidates(words: readonly string[], terminal: LiveTerminal): Promise<string[]> {
  try {
    const limit = { clock: terminal.clock, ms: timeLimitMs, signal: terminal.signal, error: timeoutError };
    const names = await withDeadline(limit, signal => clusterHostNames(words, terminal, signal));
    return names.filter(name => plainName.test(name));
  } catch {
    // A message would appear in the middle of the command line.
    return [];
  }
}

function timeoutError(): AppError {
  return new AppError('API_DEADLINE', 'the cluster did not answer in time', { remedy: 'Retry.' });
}

/** The words are those of a command with hosts; its flags name the cluster. */
async function clusterHostNames(
  words: readonly string[],
  terminal: LiveTerminal,
  signal: AbortSignal,
): Promise<string[]> {
  const parsed = parseCommandLine(hostsLine, words);
  if (parsed === undefined) return [];
  const options = clusterOptions(parsed.values, terminal.environment);
  const client = await openClient(options, terminal);
  try {
    const view = await readCluster({ client, namespace: options.namespace, clock: terminal.clock }, signal);
    return hostViews(view).map(({ name }) => name);
  } finally {
    await client.close();
  }
}

/** `slow-disk@` for `slow`, `slow-disk@win-1` for `slow-disk@`; faults before the last comma are kept. */
export function faultCandidates(typed = '', faultNames: readonly string[]): string[] {
  const start = typed.lastIndexOf(',') + 1;
  const [kept, last] = [typed.slice(0, start), typed.slice(start)];
  const at = last.indexOf('@') + 1;
  const ends = at === 0 ? faultNames.map(name => `${name}@`) : hostNames().map(host => `${last.slice(0, at)}${host}`);
  return ends.map(end => `${kept}${end}`).filter(candidate => candidate.startsWith(typed));
}

/** The hosts of a sandbox without other flags. */
function hostNames(): string[] {
  const { hosts, machines } = sandboxLine.flags;
  const numbered = (name: string, count: string) =>
    Array.from({ length: Number(count) }, (_, index) => `${name}-${index + 1}`);
  return [...numbered('win', hosts.default), ...numbered('winworker', machines.default)];
}
