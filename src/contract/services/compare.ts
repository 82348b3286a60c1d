import { sameData } from '#base/compare.ts';
import { AppError } from '#base/errors.ts';
import type { ServicesManifest } from './manifest.ts';

/** Throws unless the ConfigMap has the content that this operator writes. Order matters only for watched variables. */
export function checkContent(actual: ServicesManifest, expected: ServicesManifest, label = 'services ConfigMap'): void {
  const difference = findDifference(actual, expected);
  if (difference === undefined) return;
  throw new AppError('SERVICES_CONTENT_DIFFERS', `${label}: ${difference}`, {
    remedy: 'No action is needed: the operator deletes the ConfigMap and writes it again.',
  });
}

function findDifference(actual: ServicesManifest, expected: ServicesManifest): string | undefined {
  if (actual.services.length !== expected.services.length) {
    return `unexpected number of services: ${actual.services.length}, expected ${expected.services.length}`;
  }
  const service = expected.services.find(wanted => !actual.services.some(one => sameData(one, wanted)));
  if (service !== undefined) return `service ${service.name} is missing or differs`;
  if (actual.files.length !== expected.files.length) {
    return `unexpected number of files: ${actual.files.length}, expected ${expected.files.length}`;
  }
  const file = expected.files.find(wanted => !actual.files.some(one => sameData(one, wanted)));
  if (file !== undefined) return `file ${file.path} is missing or differs`;
  // Does not quote values: they may contain a proxy password.
  if (!sameData(actual.environment, expected.environment)) return 'environment variables differ';
  if (!sameData(actual.watchedEnvironment, expected.watchedEnvironment)) {
    return `required environment variables to watch are ${actual.watchedEnvironment.join(', ') || 'none'}, expected ${expected.watchedEnvironment.join(', ') || 'none'}`;
  }
  return undefined;
}
