import { AppError } from '#base/errors.ts';
import { file } from '#contract/paths.ts';
import { type Certificate, parseBundle, printBundle, readImported } from './certificates/bundle.ts';
import { type CertificatePlan, planCertificates } from './certificates/plan.ts';
import { type EnvironmentInput, type EnvironmentPlan, planEnvironment } from './environment/plan.ts';
import type { CertStore, Environment, Files } from './ports.ts';
import { changeState, type RebootRecord } from './state.ts';

export interface SettingsPorts {
  environment: Environment;
  certificates: CertStore;
  files: Files;
}

/** The certificates of the bundle file; undefined when no path is given, which means that none are expected. */
export async function readBundle(path: string, files: Files): Promise<Certificate[] | undefined> {
  if (path === '') return undefined;
  const text = await files.read(path);
  if (text !== undefined) return parseBundle(text, `CA bundle ${path}`);
  throw new AppError('INPUT_UNREADABLE', `CA bundle ${path} does not exist`, {
    remedy: 'Nothing to do at once: the operator writes it while it configures the host.',
  });
}

export async function observeEnvironment(
  wanted: Omit<EnvironmentInput, 'registry'>,
  environment: Environment,
): Promise<EnvironmentPlan> {
  return planEnvironment({ ...wanted, registry: await environment.machine() });
}

export async function observeCertificates(
  bundle: readonly Certificate[] | undefined,
  ports: SettingsPorts,
): Promise<CertificatePlan> {
  const record = await ports.files.read(file.importedCerts);
  const imported = record === undefined ? undefined : readImported(record);
  return planCertificates(bundle, imported, await ports.certificates.list());
}

/**
 * Makes the changes. What we are about to do is recorded before it is done, so that a pass cut short anywhere neither
 * forgets the reboot nor loses sight of what is ours.
 */
export async function applySettings(
  environment: EnvironmentPlan,
  certificates: CertificatePlan | undefined,
  reboot: RebootRecord | undefined,
  ports: SettingsPorts,
): Promise<void> {
  await changeState(ports.files, { environment: [...environment.owned, ...environment.released], reboot });
  for (const { name, value } of [...environment.writes, ...environment.restores]) {
    await ports.environment.setMachine(name, value);
  }
  for (const name of environment.removals) await ports.environment.removeMachine(name);
  if (environment.released.length > 0) await changeState(ports.files, { environment: environment.owned });
  if (certificates !== undefined) await applyCertificates(certificates, ports);
}

async function applyCertificates(plan: CertificatePlan, ports: SettingsPorts): Promise<void> {
  const { files, certificates } = ports;
  if (plan.changed) {
    const before = readImported((await files.read(file.importedCerts)) ?? '');
    await files.write(file.importedCerts, printBundle([...before, ...plan.add]));
    for (const { der } of plan.add) await certificates.add(der);
    for (const sha256 of plan.remove) await certificates.remove(sha256);
  }
  if (plan.imported === undefined) await files.remove(file.importedCerts);
  else if (plan.changed) await files.write(file.importedCerts, printBundle(plan.imported));
}
