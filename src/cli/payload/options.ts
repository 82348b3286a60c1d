import { type CommandLine, type Flags, notEmpty } from '#base/command-line.ts';

export const payloadSummary = 'download, check, pack and sign the programs for Windows hosts';

const defaultLock = 'payload/payload.lock.yaml';
const lockFlag = {
  lock: { value: 'file', default: defaultLock, help: 'list of the programs with their sources and checksums' },
} as const satisfies Flags;
const folder = (help: string) => ({ name: 'folder', help });
const exitCodes = 'Exit code: 0 done, 1 refused or failed, 2 usage error.';

/** The command lines of `wmco payload`. */
export const payloadCommandLines = {
  fetch: {
    name: 'wmco payload fetch',
    summary: 'download the programs of the lock, and check them',
    flags: {
      output: {
        value: 'folder',
        short: 'o',
        default: 'payload/files',
        help: 'programs; what is there is not downloaded again',
      },
      ...lockFlag,
      only: { value: 'name...', isList: true, help: 'names of sources in the lock; all by default' },
      agent: { value: 'file', help: 'agent, built by `npm run build:agent`: it is not downloaded' },
      'trust-first-download': { help: 'enter the checksums of what is downloaded in the lock where it has none' },
      mirror: { value: 'place', help: 'folder or URL with copies of all sources; nothing else is used then' },
      'registry-mirror': { value: 'host', help: 'registry with copies of the images: HOST[:PORT][/PATH], or a URL' },
      authfile: { value: 'file', help: 'logins for registries; default is that of podman and docker' },
      'ca-file': { value: 'file', help: 'further CA certificates to trust (PEM)' },
    },
    details: `Stops anything that does not have the checksum of the lock. A download that was cut, or stopped with Ctrl-C, goes on
where it stopped when the command is run again. HTTPS_PROXY and NO_PROXY are used. One bad source does not stop the others.

Example:
  wmco payload fetch -o payload/files --agent dist/windows-instance-config-daemon.exe

${exitCodes}`,
  },
  verify: {
    name: 'wmco payload verify',
    summary: 'check every file of a payload, downloaded or packed',
    flags: {
      key: {
        value: 'file',
        help: 'public key that must have signed the packed payload; default is the key of the release',
        expected: notEmpty('the path of a key'),
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
      'sign-key': {
        value: 'file',
        help: 'private key; without it the operator refuses the payload',
        expected: notEmpty('the path of a key'),
      },
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
