/** SPDX identifiers of licenses that allow distribution inside the .exe. */
const accepted = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Apache-2.0', 'Unlicense'];

export function checkLicense(name: string, license: string | undefined): void {
  if (license !== undefined && accepted.includes(license)) return;
  throw new Error(
    `${name} has the license ${license ?? '(none)'}; only ${accepted.join(', ')} are allowed in the .exe: use another package`,
  );
}

/** Libraries inside Node.js by their name in `process.versions`. */
export const librariesOfNode: Readonly<Record<string, { name: string; license: string }>> = {
  acorn: { name: 'acorn', license: 'MIT' },
  ada: { name: 'ada', license: 'MIT' },
  amaro: { name: 'amaro', license: 'MIT' },
  ares: { name: 'c-ares', license: 'MIT' },
  brotli: { name: 'brotli', license: 'MIT' },
  cldr: { name: 'cldr', license: 'Unicode-3.0' },
  icu: { name: 'icu', license: 'Unicode-3.0' },
  libffi: { name: 'libffi', license: 'MIT' },
  lief: { name: 'lief', license: 'Apache-2.0' },
  llhttp: { name: 'llhttp', license: 'MIT' },
  merve: { name: 'merve', license: 'MIT' },
  nbytes: { name: 'nbytes', license: 'MIT' },
  ncrypto: { name: 'ncrypto', license: 'MIT' },
  nghttp2: { name: 'nghttp2', license: 'MIT' },
  nghttp3: { name: 'nghttp3', license: 'MIT' },
  ngtcp2: { name: 'ngtcp2', license: 'MIT' },
  openssl: { name: 'openssl', license: 'Apache-2.0' },
  simdjson: { name: 'simdjson', license: 'Apache-2.0' },
  simdutf: { name: 'simdutf', license: 'MIT' },
  sqlite: { name: 'sqlite', license: 'blessing' },
  tz: { name: 'tzdata', license: 'LicenseRef-public-domain' },
  undici: { name: 'undici', license: 'MIT' },
  unicode: { name: 'unicode-character-database', license: 'Unicode-3.0' },
  uv: { name: 'libuv', license: 'MIT' },
  uvwasi: { name: 'uvwasi', license: 'MIT' },
  v8: { name: 'v8', license: 'BSD-3-Clause' },
  zlib: { name: 'zlib', license: 'Zlib' },
  zstd: { name: 'zstd', license: 'BSD-3-Clause' },
};

/** Entries of `process.versions` that are ABI versions, and Node.js itself. */
export const notLibraries = ['modules', 'napi', 'node'];
