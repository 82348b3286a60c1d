import { derTag, readDer } from '#base/der.ts';
import { AppError } from '#base/errors.ts';
import { printPem, scanPem } from '#base/pem.ts';
import { sha256 } from '#base/sha256.ts';

export interface Certificate {
  der: Uint8Array;
  /** Lower-case hex, over the DER form. */
  sha256: string;
}

const begin = '-----BEGIN CERTIFICATE-----';

/**
 * All certificates of a CA bundle. Text between blocks is skipped, but a bundle that is damaged anywhere is rejected as a
 * whole: skipping a damaged block would remove its CA from the host.
 */
export function parseBundle(text: string, label = 'CA bundle'): Certificate[] {
  const { blocks, broken } = scanPem(text);
  const problems = broken.map(({ line, why }) => `the block at line ${line} ${why}`);
  blocks.forEach(({ type, der }, index) => {
    if (type !== 'CERTIFICATE') problems.push(`block ${index + 1} is a ${type}`);
    else if (!isCertificate(der)) problems.push(`block ${index + 1} is not an X.509 certificate`);
  });
  const lastLine = text.slice(text.lastIndexOf('\n') + 1);
  if (lastLine !== '' && lastLine.length < begin.length && begin.startsWith(lastLine)) {
    problems.push('it ends in the middle of a line');
  }
  if (problems.length === 0) return blocks.map(({ der }) => ({ der, sha256: sha256(der) }));
  throw new AppError('CERTIFICATE_BUNDLE_MALFORMED', `${label}: ${problems.join('; ')}`, {
    remedy: 'Fix the ConfigMap or image registry CA that the bundle comes from; until then no certificate is imported.',
  });
}

/** The format of the record of imported certificates, which the Go agent reads, too. */
export function printBundle(certificates: readonly Certificate[]): string {
  return certificates.map(({ der }) => printPem('CERTIFICATE', der)).join('');
}

/** Parses a record written by printBundle or by the Go agent; damaged blocks are skipped. */
export function readImported(text: string): Certificate[] {
  return scanPem(text)
    .blocks.filter(({ type }) => type === 'CERTIFICATE')
    .map(({ der }) => ({ der, sha256: sha256(der) }));
}

/** Checks the outer structure only: content, algorithm and signature. Windows checks the rest. */
function isCertificate(der: Uint8Array): boolean {
  const outer = readDer(der);
  if (outer?.length !== 1 || outer[0]?.tag !== derTag.sequence) return false;
  const tags = readDer(outer[0].content)?.map(element => element.tag);
  return tags?.join() === [derTag.sequence, derTag.sequence, derTag.bitString].join();
}
