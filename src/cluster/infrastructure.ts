import { AppError, shown } from '#base/errors.ts';
import type { KubeObject } from '#contract/object.ts';

/** The platform as `infrastructures.config.openshift.io` cluster names it; values we do not know are fine. */
export function readPlatform(infrastructure: KubeObject): string {
  const platform = infrastructure.fields.object('status').object('platformStatus').string('type') ?? '';
  if (platform !== '') return platform;
  throw new AppError('PLATFORM_MISSING', `${infrastructure.label}: status.platformStatus.type is empty`, {
    remedy: 'Wait until the installer or the cluster has filled in status.platformStatus.type.',
  });
}

const plainHttps = /^https:\/\/[\w.:[\]-]+(\/[\w./~-]*)?$/;

/** Addresses of API servers end up in command lines, so nothing but a plain https URL will do. */
export function isPlainHttps(url: string): boolean {
  return plainHttps.test(url) && URL.canParse(url);
}

/** The address under which nodes reach the API server. */
export function readApiServerUrl(infrastructure: KubeObject): string {
  const url = infrastructure.fields.object('status').string('apiServerInternalURI') ?? '';
  if (isPlainHttps(url)) return url;
  throw new AppError(
    'API_SERVER_URL_MISSING',
    `${infrastructure.label}: status.apiServerInternalURI is ${shown(url)}, not an https address`,
    { remedy: 'Set status.apiServerInternalURI to an address such as https://api-int.example.com:6443.' },
  );
}
