import { AppError } from '#base/errors.ts';
import { file } from '#contract/paths.ts';
import type { Files, ServiceManager } from '../ports.ts';
import { isManaged } from '../services/order.ts';
import { readState } from '../state.ts';

export interface CleanedUpPorts {
  services: Pick<ServiceManager, 'list'>;
  files: Files;
}

/** Throws while services or settings of the agent are on the host: without their records they could not be removed. */
export async function checkCleanedUp({ services, files }: CleanedUpPorts): Promise<void> {
  const { environment = [] } = await readState(files);
  const hasCertificates = (await files.read(file.importedCerts)) !== undefined;
  const found = [
    ...(await services.list()).filter(isManaged).map(({ name }) => `service ${name}`),
    ...environment.map(({ name }) => `variable ${name}`),
    ...(hasCertificates ? ['imported certificates'] : []),
  ];
  if (found.length === 0) return;
  throw new AppError('CLEANUP_INCOMPLETE', `the host still has ${found.join(', ')}`, {
    remedy: 'Run the verb `cleanup` without --keep-settings first.',
  });
}
