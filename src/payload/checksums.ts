import { AppError, shown } from '#base/errors.ts';

/** Lower-case hex SHA-256 of the uncompressed files, by file name. */
export type Checksums = Readonly<Record<string, string>>;

/** Parses the output of `sha256sum`; the operator knows files by their name. */
export function parseChecksums(text: string): Checksums {
  return collect(text, path => path.slice(path.lastIndexOf('/') + 1).trim());
}

/** Parses the output of `sha256sum`; the sums by path as it is written. */
export function parseChecksumPaths(text: string): Checksums {
  return collect(text, path => path);
}

/** As `sha256sum` prints them, sorted by path, so that `sha256sum -c` accepts them. */
export function printChecksums(sums: Checksums): string {
  return Object.entries(sums)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, sum]) => `${sum}  ${path}\n`)
    .join('');
}

function collect(text: string, nameOf: (path: string) => string): Checksums {
  const checksums = new Map<string, string>();
  for (const line of text.split('\n').map(raw => raw.trim())) {
    if (line === '') continue;
    const { path, hash } = parseLine(line);
    const name = nameOf(path);
    if (name === '') throw unexpected(line);
    if (checksums.has(name)) throw malformed(`file name ${shown(name)} is listed twice`);
    checksums.set(name, hash);
  }
  return Object.fromEntries(checksums);
}

function parseLine(line: string): { path: string; hash: string } {
  const cut = line.indexOf('  ');
  const [hash, path] = cut === -1 ? ['', ''] : [line.slice(0, cut), line.slice(cut + 2)];
  if (path === '' || !/^[0-9a-fA-F]{64}$/.test(hash)) throw unexpected(line);
  return { path, hash: hash.toLowerCase() };
}

function unexpected(line: string): AppError {
  return malformed(`unexpected sha256sum line format ${shown(line)}`);
}

function malformed(message: string): AppError {
  return new AppError('CHECKSUMS_MALFORMED', `sha256sum: ${message}`, {
    remedy: 'Create the file again with `sha256sum`: one line per payload file, each file name once.',
  });
}
