import { mkdir } from 'node:fs/promises';
import { type CommandLine, usage } from '#base/command-line.ts';
import { closestWord } from '#base/closest.ts';
import { shown } from '#base/errors.ts';
import { proxyFor } from '#kube/config/proxy-environment.ts';
import { fetchPayload, type SourceOutcome } from '#payload/fetch/fetch.ts';
import { httpGet } from '#payload/fetch/http.ts';
import type { PayloadLock } from '#payload/lock.ts';
import { unwritableError } from '../output.ts';
import { printable } from '../safe-text.ts';
import type { ExitCode } from '../terminal.ts';
import type { PayloadContext } from './commands.ts';
import { fetchProgress } from './fetch-progress.ts';
import { readLock, readText } from './lock-file.ts';
import { readLogins } from './login-file.ts';
import { mirrorIn, registryMirrorIn } from './mirror-options.ts';
import { pinLockFile } from './pin-lock-file.ts';

/** `wmco payload fetch`. */
export async function fetchCommand(context: PayloadContext): Promise<ExitCode> {
  const { line, parsed, terminal } = context;
  const { output = '', lock: lockPath = '', agent = '' } = parsed.values;
  const { lock } = await readLock(lockPath);
  const only = parsed.given.get('only') ?? [];
  checkNames(line, only, lock);
  const sources = await sourcesOf(context);
  await mkdir(output, { recursive: true }).catch((error: unknown) => {
    throw unwritableError(output, error);
  });
  const report = fetchProgress({ terminal });
  try {
    const outcomes = await fetchPayload({
      ...sources,
      lock,
      output,
      only,
      agent: agent === '' ? undefined : agent,
      trustsFirst: parsed.values['trust-first-download'] === 'true',
      clock: terminal.clock,
      signal: terminal.signal,
      report,
      pin: found => pinLockFile(lockPath, found),
    });
    report.end();
    terminal.out(printable(`${output}: ${summaryOf(outcomes)}\n`));
    return outcomes.some(({ kind }) => kind === 'failed' || kind === 'stopped') ? 1 : 0;
  } finally {
    report.end();
  }
}

/** Where sources come from, and how they are reached. */
async function sourcesOf({ line, parsed: { values }, terminal }: PayloadContext) {
  const { 'ca-file': caFile = '', authfile = '' } = values;
  const mirror = mirrorIn(line, values['mirror'] ?? '');
  const registryMirror = registryMirrorIn(line, values['registry-mirror'] ?? '');
  const { loginOf, unreadable } = await readLogins(authfile, terminal.environment);
  if (unreadable !== undefined)
    terminal.err(printable(`Note: logins in ${unreadable.path} that cannot be read: ${unreadable.count}\n`));
  const get = httpGet({
    ...(caFile !== '' && { extraCa: await readText(caFile, 'the CA file', 'Pass a file with PEM certificates.') }),
    proxyOf: url => proxyFor(url.href, terminal.environment),
    plainOrigins: [mirror?.kind === 'url' ? mirror.base : undefined, registryMirror].flatMap(url => url?.origin ?? []),
    userAgent: `wmco/${terminal.version()}`,
  });
  return { mirror, registryMirror, loginOf, get };
}

function checkNames(line: CommandLine, only: readonly string[], { sources }: PayloadLock): void {
  const names = sources.map(({ name }) => name);
  const unknown = only.find(name => !names.includes(name));
  if (unknown === undefined) return;
  throw usage(line, `--only: the lock has no source ${shown(unknown)}`, closestWord(unknown, names));
}

const kindTexts: readonly [kind: SourceOutcome['kind'], text: string][] = [
  ['fetched', 'downloaded'],
  ['present', 'already there'],
  ['not given', 'not given'],
  ['failed', 'failed'],
  ['stopped', 'stopped'],
];

/** `12 sources: 3 downloaded, 8 already there, 1 failed`. */
function summaryOf(outcomes: readonly SourceOutcome[]): string {
  const counts = kindTexts.map(([kind, text]) => [outcomes.filter(each => each.kind === kind).length, text] as const);
  const again = outcomes.some(mayGoOn) ? '; run the command again to go on' : '';
  const all = outcomes.length === 1 ? '1 source' : `${outcomes.length} sources`;
  return `${all}: ${counts.flatMap(([count, text]) => (count === 0 ? [] : [`${count} ${text}`])).join(', ')}${again}`;
}

function mayGoOn(outcome: SourceOutcome): boolean {
  if (outcome.kind === 'failed') return outcome.error.code === 'PAYLOAD_DOWNLOAD_FAILED';
  return outcome.kind === 'stopped';
}
