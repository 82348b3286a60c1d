import { AppError, shown } from '#base/errors.ts';
import type { KubeObject } from '#contract/object.ts';

/** The platform in `infrastructures.config.openshift.io` cluster; unknown values are allowed. */
export function readPlatform(infrastructure: KubeObject): string {
  const platform = infrastructure.fields.object('status').object('platformStatus').string('type') ?? '';
  if (platform !== '') return platform;
  throw new AppError('PLATFORM_MISSING', `${infrastructure.label}: status.platformStatus.type is empty`, {
    remedy: 'Wait until the cluster sets it; check with `oc get infrastructures.config.openshift.io cluster -o yaml`.',
  });
}

const plainHttps = /^https:\/\/[\w.:[\]-]+(\/[\w./~-]*)?$/;

/** API server addresses become parts of command lines, so only a plain https URL is allowed. */
export function isPlainHttps(url: string): boolean {
  return plainHttps.test(url) && URL.canParse(url);
}

/** The address under which nodes reach the API server. */
export function readApiServerUrl(infrastructure: KubeObject): string {
  const url = infrastructure.fields.object('status').string('apiServerInternalURI') ?? '';
  if (isPlainHttps(url)) return url;
  throw new AppError(
    'API_SERVER_URL_MISSING',
    `${infrastructure.label}: status.apiServerInternalURI is ${shown(url)}, not an https URL`,
    { remedy: 'Set status.apiServerInternalURI to a URL such as https://api-int.example.com:6443.' },
  );
}
