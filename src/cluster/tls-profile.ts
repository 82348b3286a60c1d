import { AppError, shown } from '#base/errors.ts';
import type { Fields } from '#base/fields.ts';
import type { KubeObject } from '#contract/object.ts';

export interface TlsSettings {
  /** As the OpenShift API names it, such as VersionTLS12. */
  minTlsVersion: string;
  /** OpenSSL names. */
  ciphers: string[];
}

export interface TlsProfile extends TlsSettings {
  /** Which components must follow the profile; empty when not set. */
  adherence: string;
}

/** Reads `apiservers.config.openshift.io` cluster; the default is Intermediate. */
export function readTlsProfile(apiServer: KubeObject | undefined): TlsProfile {
  const spec = apiServer?.fields.object('spec');
  const settings = spec === undefined ? intermediate : settingsOf(spec.object('tlsSecurityProfile'));
  return { ...settings, ciphers: [...settings.ciphers], adherence: spec?.string('tlsAdherence') ?? '' };
}

/** Every policy except the two legacy ones, also an unknown one, asks components to follow the profile. */
export function honorsTlsProfile(adherence: string): boolean {
  return adherence !== '' && adherence !== 'LegacyAdheringComponentsOnly';
}

/** What the endpoint of the operator must use; undefined when the profile does not apply to it. */
export function tlsInForce({ adherence, ...settings }: TlsProfile): TlsSettings | undefined {
  return honorsTlsProfile(adherence) ? settings : undefined;
}

const modernCiphers = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

const intermediateCiphers = [
  ...modernCiphers,
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'DHE-RSA-AES128-GCM-SHA256',
  'DHE-RSA-AES256-GCM-SHA384',
];

const oldCiphers = [
  ...intermediateCiphers,
  'DHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-RSA-AES128-SHA256',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-RSA-AES256-SHA384',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'DHE-RSA-AES128-SHA256',
  'DHE-RSA-AES256-SHA256',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA256',
  'AES256-SHA256',
  'AES128-SHA',
  'AES256-SHA',
  'DES-CBC3-SHA',
];

const intermediate: TlsSettings = { minTlsVersion: 'VersionTLS12', ciphers: intermediateCiphers };

const profiles: ReadonlyMap<string, TlsSettings> = new Map([
  ['', intermediate],
  ['Old', { minTlsVersion: 'VersionTLS10', ciphers: oldCiphers }],
  ['Intermediate', intermediate],
  ['Modern', { minTlsVersion: 'VersionTLS13', ciphers: modernCiphers }],
]);

const versions = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'];

function settingsOf(profile: Fields): TlsSettings {
  const type = profile.string('type') ?? '';
  if (type === 'Custom') return customSettings(profile);
  const settings = profiles.get(type);
  if (settings !== undefined) return settings;
  throw invalid(profile, `type is ${shown(type)}`, 'Set type to Old, Intermediate, Modern or Custom.');
}

function customSettings(profile: Fields): TlsSettings {
  if (profile.raw('custom') === undefined) {
    throw invalid(profile, 'type is Custom, but custom is missing', 'Add custom.minTLSVersion and custom.ciphers.');
  }
  const custom = profile.object('custom');
  const minTlsVersion = custom.string('minTLSVersion') ?? '';
  if (versions.includes(minTlsVersion)) return { minTlsVersion, ciphers: custom.strings('ciphers') };
  throw invalid(profile, `custom.minTLSVersion is ${shown(minTlsVersion)}`, `Use one of ${versions.join(', ')}.`);
}

function invalid(profile: Fields, what: string, remedy: string): AppError {
  return new AppError('TLS_PROFILE_INVALID', `${profile.label}: ${profile.path}: ${what}`, { remedy });
}
