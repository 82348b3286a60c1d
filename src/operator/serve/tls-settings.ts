import type { SecureContextOptions, SecureVersion } from 'node:tls';
import type { TlsSettings } from '#cluster/tls-profile.ts';

const versions: Readonly<Record<string, SecureVersion>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** Translates TLS settings of the cluster for Node.js; its defaults without settings. */
export function tlsOptions(settings: TlsSettings | undefined): SecureContextOptions {
  if (settings === undefined) return { minVersion: 'TLSv1.2' };
  const minVersion = versions[settings.minTlsVersion] ?? 'TLSv1.2';
  return { minVersion, ...(settings.ciphers.length > 0 && { ciphers: settings.ciphers.join(':') }) };
}
