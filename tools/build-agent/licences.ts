/** SPDX identifiers of licences that let us hand on a package inside the .exe. */
const accepted = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0'];

/** Throws for a package whose licence nobody has looked at yet. */
export function mustBeAccepted(name: string, licence: string | undefined): void {
  if (licence !== undefined && accepted.includes(licence)) return;
  throw new Error(
    `${name} has the licence ${licence ?? '(none)'}; only ${accepted.join(', ')} may go into the .exe: use another package`,
  );
}

/** The libraries inside Node.js, by the name `process.versions` gives them. */
export const librariesOfNode: Readonly<Record<string, { name: string; licence: string }>> = {
  acorn: { name: 'acorn', licence: 'MIT' },
  ada: { name: 'ada', licence: 'MIT' },
  amaro: { name: 'amaro', licence: 'MIT' },
  ares: { name: 'c-ares', licence: 'MIT' },
  brotli: { name: 'brotli', licence: 'MIT' },
  cldr: { name: 'cldr', licence: 'Unicode-3.0' },
  icu: { name: 'icu', licence: 'Unicode-3.0' },
  libffi: { name: 'libffi', licence: 'MIT' },
  lief: { name: 'lief', licence: 'Apache-2.0' },
  llhttp: { name: 'llhttp', licence: 'MIT' },
  merve: { name: 'merve', licence: 'MIT' },
  nbytes: { name: 'nbytes', licence: 'MIT' },
  ncrypto: { name: 'ncrypto', licence: 'MIT' },
  nghttp2: { name: 'nghttp2', licence: 'MIT' },
  nghttp3: { name: 'nghttp3', licence: 'MIT' },
  ngtcp2: { name: 'ngtcp2', licence: 'MIT' },
  openssl: { name: 'openssl', licence: 'Apache-2.0' },
  simdjson: { name: 'simdjson', licence: 'Apache-2.0' },
  simdutf: { name: 'simdutf', licence: 'MIT' },
  sqlite: { name: 'sqlite', licence: 'blessing' },
  tz: { name: 'tzdata', licence: 'LicenseRef-public-domain' },
  undici: { name: 'undici', licence: 'MIT' },
  unicode: { name: 'unicode-character-database', licence: 'Unicode-3.0' },
  uv: { name: 'libuv', licence: 'MIT' },
  uvwasi: { name: 'uvwasi', licence: 'MIT' },
  v8: { name: 'v8', licence: 'BSD-3-Clause' },
  zlib: { name: 'zlib', licence: 'Zlib' },
  zstd: { name: 'zstd', licence: 'BSD-3-Clause' },
};

/** Entries of `process.versions` that are numbers of interfaces, and Node.js itself. */
export const notLibraries = ['modules', 'napi', 'node'];
