import { randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type CommandLine, usage } from '#base/command-line.ts';
import { closestWord } from '#base/closest.ts';
import { AppError, shown } from '#base/errors.ts';
import { proxyFor } from '#kube/config/proxy-environment.ts';
import { payloadFiles } from '#node/payload.ts';
import { fetchPayload, type SourceOutcome } from '#payload/fetch/fetch.ts';
import { httpGet } from '#payload/fetch/http.ts';
import type { Mirror } from '#payload/fetch/mirror.ts';
import { parseLock, type PayloadLock } from '#payload/lock.ts';
import { type FoundSums, pinLock } from '#payload/pin.ts';
import { unwritableError } from '../output.ts';
import { printable } from '../safe-text.ts';
import type { ExitCode } from '../terminal.ts';
import type { PayloadContext } from './commands.ts';
import { fetchProgress } from './fetch-progress.ts';
import { readLock, readText } from './lock-file.ts';

/** `wmco payload fetch`. */
export async function fetchCommand({ line, parsed, terminal }: PayloadContext): Promise<ExitCode> {
  const { values, given } = parsed;
  const { output = '', lock: lockPath = '', mirror = '', agent = '', 'ca-file': caFile = '' } = values;
  const { lock } = await readLock(lockPath);
  const only = given.get('only') ?? [];
  checkNames(line, only, lock);
  const place = mirrorIn(line, mirror);
  const extraCa =
    caFile === '' ? undefined : await readText(caFile, 'the CA file', 'Pass a file with PEM certificates.');
  await mkdir(output, { recursive: true }).catch((error: unknown) => {
    throw unwritableError(output, error);
  });
  const report = fetchProgress({ terminal });
  try {
    const outcomes = await fetchPayload({
      lock,
      output,
      only,
      mirror: place,
      agent: agent === '' ? undefined : agent,
      trustsFirst: values['trust-first-download'] === 'true',
      get: httpGet({
        ...(extraCa !== undefined && { extraCa }),
        proxyOf: url => proxyFor(url.href, terminal.environment),
        plainOrigins: place?.kind === 'url' ? [place.base.origin] : [],
        userAgent: `wmco/${terminal.version()}`,
      }),
      clock: terminal.clock,
      signal: terminal.signal,
      report,
      pin: found => pinFile(lockPath, found),
    });
    report.end();
    terminal.out(printable(`${output}: ${summaryOf(outcomes)}\n`));
    return outcomes.some(({ kind }) => kind === 'failed' || kind === 'stopped') ? 1 : 0;
  } finally {
    report.end();
  }
}

function checkNames(line: CommandLine, only: readonly string[], { sources }: PayloadLock): void {
  const names = sources.map(({ name }) => name);
  const unknown = only.find(name => !names.includes(name));
  if (unknown === undefined) return;
  throw usage(line, `--only: the lock has no source ${shown(unknown)}`, closestWord(unknown, names));
}

function mirrorIn(line: CommandLine, text: string): Mirror | undefined {
  if (text === '') return undefined;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'folder', path: text };
  const base = URL.parse(text);
  const isPlain = base !== null && base.username === '' && base.search === '' && base.hash === '';
  if (isPlain && ['http:', 'https:'].includes(base.protocol)) return { kind: 'url', base };
  throw usage(line, `--mirror is ${shown(text)}, neither a folder nor an http or https URL without login and query`);
}

/** Reads the lock again, which may have been edited during a long download; it is replaced as a whole. */
async function pinFile(path: string, found: FoundSums): Promise<void> {
  const target = await realpath(path);
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    const text = await readFile(target, 'utf8');
    const pinned = pinLock(text, parseLock(text, path, payloadFiles), found);
    parseLock(pinned, path, payloadFiles);
    await writeFile(draft, pinned, { flag: 'wx', mode: (await stat(target)).mode & 0o777 });
    await rename(draft, target);
  } catch (error) {
    throw error instanceof AppError ? error : unwritableError(path, error);
  } finally {
    await rm(draft, { force: true });
  }
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
  const again = outcomes.some(({ kind }) => kind === 'stopped' || kind === 'failed')
    ? '; run the command again to go on'
    : '';
  const all = outcomes.length === 1 ? '1 source' : `${outcomes.length} sources`;
  return `${all}: ${counts.flatMap(([count, text]) => (count === 0 ? [] : [`${count} ${text}`])).join(', ')}${again}`;
}
