import type { CommandLine, Flags } from '#base/command-line.ts';

export const payloadSummary = 'download, check, pack and sign the programs for Windows hosts';

const defaultLock = 'payload/payload.lock.yaml';
const lockFlag = {
  lock: { value: 'file', default: defaultLock, help: 'list of the programs with their sources and checksums' },
} as const satisfies Flags;
const folder = (help: string) => ({ name: 'folder', help });
const exitCodes = 'Exit code: 0 done, 1 refused or failed, 2 usage error.';

/** The command lines of `wmco payload`. */
export const payloadCommandLines = {
  verify: {
    name: 'wmco payload verify',
    summary: 'check every file of a payload, downloaded or packed',
    flags: {
      key: {
        value: 'file',
        help: 'public key that must have signed a packed payload; default is the key of the release',
      },
      ...lockFlag,
    },
    argument: folder('payload that `wmco payload fetch` or `wmco payload pack` has written'),
    details: `Programs as they were downloaded are compared with the lock. Of a packed payload, signatures, every file, the
programs in the archives and its own lock are checked.

Example:
  wmco payload verify dist/payload --key payload-key.pub

${exitCodes}`,
  },
  pack: {
    name: 'wmco payload pack',
    summary: 'compress, list, describe and sign the programs, for the image of the operator',
    flags: {
      output: { value: 'folder', short: 'o', default: 'dist/payload', help: 'packed payload' },
      'sign-key': { value: 'file', help: 'private key; without it the operator refuses the payload' },
      ...lockFlag,
    },
    argument: folder('programs that `wmco payload fetch` has downloaded'),
    details: `Writes an archive for each program, sha256sum with the checksums of the programs, SHA256SUMS with those of all files,
both with a signature, the lock, and a bill of materials (SPDX 2.3). The same programs give the same bytes;
SOURCE_DATE_EPOCH sets the date of the bill of materials.

Example:
  wmco payload pack payload/files --sign-key payload-key.pem -o dist/payload

${exitCodes}`,
  },
  keygen: {
    name: 'wmco payload keygen',
    summary: 'create a pair of keys (Ed25519) for payloads of your own',
    flags: {
      output: { value: 'name', short: 'o', default: 'payload-key', help: 'writes NAME.pem (private) and NAME.pub' },
    },
    details: `Keep NAME.pem secret. The operator gets NAME.pub with --payload-key, in a cluster from the Secret windows-payload-key.

Example:
  wmco payload keygen -o payload-key

${exitCodes}`,
  },
} as const satisfies Record<string, CommandLine>;

export type PayloadCommandName = keyof typeof payloadCommandLines;
