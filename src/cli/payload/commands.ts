import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandLine, type ParsedLine, usage } from '#base/command-line.ts';
import { AppError } from '#base/errors.ts';
import { payloadFiles } from '#node/payload.ts';
import { isSystemError } from '#payload/fetch/failures.ts';
import { packedFile, packPayload } from '#payload/pack.ts';
import { releaseKey } from '#payload/release-key.ts';
import { newKeyPair, readPrivateKey } from '#payload/signature.ts';
import { verifyFetched, verifyPacked } from '#payload/verify.ts';
import { errorText, unwritableError } from '../output.ts';
import { printable, safe } from '../safe-text.ts';
import type { ExitCode, LiveTerminal } from '../terminal.ts';
import { fetchCommand } from './fetch.ts';
import { readLock, readText } from './lock-file.ts';
import type { PayloadCommandName } from './options.ts';
import { megabytes } from './size-text.ts';

export interface PayloadContext {
  line: CommandLine;
  parsed: ParsedLine;
  terminal: LiveTerminal;
}

type Run = (context: PayloadContext) => Promise<ExitCode>;

/** What each command of `wmco payload` does. */
export const payloadCommands: Readonly<Record<PayloadCommandName, Run>> = {
  fetch: fetchCommand,

  verify: async context => {
    const folder = folderOf(context);
    const { terminal, parsed } = context;
    const { key: keyFile = '', lock = '' } = parsed.values;
    // A key asks for a signature: a folder without one must not pass, whatever else is in it.
    const isPacked = keyFile !== '' || existsSync(join(folder, packedFile.list));
    const key = await publicKey(keyFile);
    const {
      programs,
      problems,
      unchecked = [],
    } = isPacked
      ? await verifyPacked({ folder, key, wanted: payloadFiles })
      : await verifyFetched(folder, (await readLock(lock)).lock);
    for (const problem of problems) terminal.err(safe`${errorText(problem)}\n`);
    if (problems.length > 0) return 1;
    for (const path of unchecked)
      terminal.err(printable(`Note: ${path} was not compared: the lock has no checksum of what you build\n`));
    const against = isPacked ? `signed by ${key.keyName}` : `as in ${lock}`;
    terminal.out(printable(`${folder}: ${programs - unchecked.length} programs, ${against}\n`));
    return 0;
  },

  pack: async context => {
    const folder = folderOf(context);
    const { terminal, parsed } = context;
    const { output = '', lock: lockPath = '', 'sign-key': signKey = '' } = parsed.values;
    const { lock, text } = await readLock(lockPath);
    const key =
      signKey === ''
        ? undefined
        : {
            privatePem: await privateKey(signKey),
            keyName: signKey,
          };
    const options = {
      folder,
      output,
      lock,
      lockText: text,
      created: dateOf(terminal.environment['SOURCE_DATE_EPOCH']),
      ...(key && { signKey: key }),
      progress: (path: string, bytes: number) => terminal.err(printable(`packed ${path}: ${megabytes(bytes)}\n`)),
    };
    await packPayload({ ...options, signal: terminal.signal }).catch((error: unknown) => {
      if (terminal.signal.aborted) throw stopped(output);
      throw isSystemError(error) ? unwritableError(output, error) : error;
    });
    terminal.out(printable(`${output}: packed${key === undefined ? '' : ` and signed by ${signKey}`}\n`));
    if (key === undefined)
      terminal.err(printable('Note: without --sign-key the payload is not signed, and the operator refuses it.\n'));
    return 0;
  },

  keygen: async ({ parsed, terminal }) => {
    const { output = '' } = parsed.values;
    const { privatePem, publicPem } = newKeyPair();
    await writeNew(`${output}.pem`, privatePem, 0o600);
    await writeNew(`${output}.pub`, publicPem, 0o644).catch(async (error: unknown) => {
      await rm(`${output}.pem`);
      throw error;
    });
    terminal.out(printable(`${output}.pem: private key; keep it secret\n${output}.pub: public key\n`));
    return 0;
  },
};

function folderOf({ line, parsed }: PayloadContext): string {
  const [folder = ''] = parsed.args;
  if (folder === '') throw usage(line, 'missing the folder');
  return folder;
}

function stopped(output: string): AppError {
  return new AppError('INTERRUPTED', `${output} was not packed, because the command was stopped`, {
    remedy: 'Run it again: nothing of it is left.',
  });
}

/** Checked before the work begins. */
async function privateKey(path: string): Promise<string> {
  const pem = await readText(path, 'the private key', 'Create one with `wmco payload keygen`.');
  readPrivateKey(pem, path);
  return pem;
}

async function publicKey(path: string): Promise<{ publicPem: string; keyName: string }> {
  if (path === '') return { publicPem: releaseKey, keyName: 'the key of the release' };
  const remedy = 'Pass the public key with --key, or omit it for the key of the release.';
  return { publicPem: await readText(path, 'the public key', remedy), keyName: path };
}

/** Never replaces a key: payloads that it has signed could not be signed again. */
async function writeNew(path: string, content: string, mode: number): Promise<void> {
  try {
    await writeFile(path, content, { mode, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritableError(path, error);
    throw new AppError('OUTPUT_UNWRITABLE', `${path} exists, and a key is never replaced`, {
      remedy: 'Name another one with --output.',
      cause: error,
    });
  }
}

/** Of the bill of materials; without SOURCE_DATE_EPOCH one that never changes. */
function dateOf(epoch: string | undefined): string {
  const seconds = epoch ?? '0';
  if (!/^\d{1,11}$/.test(seconds))
    throw new AppError('SETTING_INVALID', `SOURCE_DATE_EPOCH is not a number of seconds since 1970`, {
      remedy: 'Set it to the output of `git log -1 --format=%ct`, or unset it.',
    });
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}
