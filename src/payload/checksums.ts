import { AppError, shown } from '#base/errors.ts';

/** Lower-case hex SHA-256 of the uncompressed files, by file name. */
export type Checksums = Readonly<Record<string, string>>;

/** Parses the output of `sha256sum`. */
export function parseChecksums(text: string): Checksums {
  const checksums = new Map<string, string>();
  for (const line of text.split('\n').map(raw => raw.trim())) {
    if (line === '') continue;
    const { name, hash } = parseLine(line);
    if (checksums.has(name)) throw malformed(`file name ${shown(name)} is listed twice`);
    checksums.set(name, hash);
  }
  return Object.fromEntries(checksums);
}

function parseLine(line: string): { name: string; hash: string } {
  const cut = line.indexOf('  ');
  const [hash, path] = cut === -1 ? ['', ''] : [line.slice(0, cut), line.slice(cut + 2)];
  const name = path.slice(path.lastIndexOf('/') + 1).trim();
  if (name === '' || !/^[0-9a-fA-F]{64}$/.test(hash)) {
    throw malformed(`unexpected sha256sum line format ${shown(line)}`);
  }
  return { name, hash: hash.toLowerCase() };
}

function malformed(message: string): AppError {
  return new AppError('CHECKSUMS_MALFORMED', `sha256sum: ${message}`, {
    remedy: 'Create the file again with `sha256sum`: one line per payload file, each file name once.',
  });
}
